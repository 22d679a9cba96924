#include "microbench/plan_cases.h"

#include <fmt/format.h>

#include <set>

#include "db/store.h"
#include "microbench/memory_kernels.h"

namespace roofcal::microbench {
namespace {

Result<MeasurementCase> case_of(const ListedShape& listed) {
  if (listed.op->name() == "gemm") {
    MeasurementCase one;
    one.kind = std::string(kOperatorSample);
    one.op = "gemm";
    one.kernel = "heuristic";
    one.attributes = listed.attributes;
    one.sizes = {{"m", listed.shape[0]}, {"n", listed.shape[1]}, {"k", listed.shape[2]}};
    one.cache = listed.cache;
    return one;
  }
  if (listed.op->name() == "memory") {
    const std::int64_t read = listed.shape[0];
    const std::int64_t written = listed.shape[1];
    if (written == 0) return memory_case("read", {{"bytes", read}}, listed.cache);
    if (read == 0) return memory_case("write", {{"bytes", written}}, listed.cache);
    if (read == written) return memory_case("copy", {{"bytes", written}}, listed.cache);
    if (read == 2 * written) return memory_case("triad", {{"bytes", written}}, listed.cache);
    return Error{ErrorCode::usage, fmt::format("no kernel reads {} bytes and writes {}", read, written)};
  }
  return Error{ErrorCode::usage, fmt::format("{} is not measured yet", listed.op->name())};
}

}  // namespace

PlanCases plan_cases(const ShapeList& list) {
  PlanCases out;
  std::set<std::string> seen;
  for (const ListedShape& listed : list.shapes) {
    auto one = case_of(listed);
    if (!one) {
      out.left_out.push_back(fmt::format("line {}: {}", listed.line, one.error().message));
    } else if (seen.insert(case_id(*one)).second) {
      out.cases.push_back(*std::move(one));
    }
  }
  return out;
}

void add_exhaustive(std::vector<MeasurementCase>& cases) {
  const std::size_t before = cases.size();
  for (std::size_t i = 0; i < before; ++i) {
    if (cases[i].kernel != "heuristic" || cases[i].kind != kOperatorSample) continue;
    MeasurementCase twin = cases[i];
    twin.kernel = "exhaustive";
    cases.push_back(std::move(twin));
  }
}

}  // namespace roofcal::microbench
