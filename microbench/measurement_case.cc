#include "microbench/measurement_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/gemm.h"
#include "microbench/memory_kernels.h"

namespace roofcal::microbench {
namespace {

bool is_gemm(const MeasurementCase& one) { return one.op == "gemm"; }

std::int64_t size_or(const MeasurementCase& one, std::string_view name, std::int64_t otherwise) {
  const auto found = one.sizes.find(std::string(name));
  return found == one.sizes.end() ? otherwise : found->second;
}

// Products that one call makes.
double products(const MeasurementCase& one) { return static_cast<double>(size_or(one, "batch", 1)); }

Shape gemm_shape(const MeasurementCase& one) { return {one.sizes.at("m"), one.sizes.at("n"), one.sizes.at("k")}; }

}  // namespace

std::string case_id(const MeasurementCase& one) {
  std::string attributes;
  for (const auto& [name, value] : one.attributes) {
    attributes += fmt::format("{}{}={}", attributes.empty() ? "" : ",", name, value);
  }
  std::string sizes;
  for (const auto& [name, value] : one.sizes) sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ",", name, value);
  const auto word = [](const std::string& text) { return text.empty() ? "-" : text.c_str(); };
  return fmt::format("{}/{}/{}/{}/{}/{}", one.kind, one.op, word(one.kernel), word(attributes), word(sizes),
                     to_string(one.cache));
}

double gemm_output_bytes(std::string_view dtype) {
  return dtype == "float32" || dtype == "tf32" || dtype == "int8" ? 4.0 : 2.0;
}

Work work_of(const MeasurementCase& one) {
  if (is_gemm(one)) {
    Work work = gemm_operator().work(one.attributes, gemm_shape(one));
    const double n = products(one);
    work.flops = n * work.flops;
    work.bytes_read = n * work.bytes_read;
    work.bytes_written = n * work.bytes_written;
    return work;
  }
  if (const MemoryKernel* kernel = one.op == "memory" ? find_memory_kernel(one.kernel) : nullptr) {
    const Traffic traffic = kernel->traffic(one.sizes);
    Work work;
    work.bytes_read = traffic.read;
    work.bytes_written = traffic.written;
    return work;
  }
  Work work;
  if (one.kind == kTransferKind) work.link_bytes = Bytes(static_cast<double>(size_or(one, "bytes", 0)));
  return work;
}

Bytes footprint_of(const MeasurementCase& one) {
  if (is_gemm(one)) {
    const DType& dtype = *find_dtype(one.attributes.at("dtype"));
    const auto m = static_cast<double>(one.sizes.at("m"));
    const auto n = static_cast<double>(one.sizes.at("n"));
    const auto k = static_cast<double>(one.sizes.at("k"));
    return Bytes(products(one) *
                 (m * k * dtype.activation_bytes + n * k * dtype.weight_bytes + m * n * gemm_output_bytes(dtype.name)));
  }
  if (const MemoryKernel* kernel = one.op == "memory" ? find_memory_kernel(one.kernel) : nullptr) {
    return kernel->footprint(one.sizes);
  }
  return Bytes(static_cast<double>(size_or(one, "bytes", 0)));
}

Shape shape_of(const MeasurementCase& one) {
  if (is_gemm(one)) return gemm_shape(one);
  const Traffic traffic = find_memory_kernel(one.kernel)->traffic(one.sizes);
  return {static_cast<std::int64_t>(traffic.read.value()), static_cast<std::int64_t>(traffic.written.value())};
}

}  // namespace roofcal::microbench
