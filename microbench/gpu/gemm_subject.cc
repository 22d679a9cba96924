#include <fmt/format.h>

#include <algorithm>

#include "microbench/gpu/stream_subject.h"
#include "microbench/gpu/subjects.h"
#include "microbench/memory_fit.h"

namespace roofcal::microbench {
namespace {

constexpr int kMostCandidates = 256;
constexpr int kLaunchesOfATrial = 5;
constexpr std::size_t kCheckedElements = 64;
constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::size_t bytes_of_elements(NumberFormat format, std::int64_t count) {
  return static_cast<std::size_t>((count * bits_of(format) + 7) / 8);
}

LtProblem problem_of(const MeasurementCase& one) {
  LtProblem problem{one.attributes.at("dtype"), one.sizes.at("m"), one.sizes.at("n"), one.sizes.at("k"), 1};
  if (const auto batch = one.sizes.find("batch"); batch != one.sizes.end()) problem.batch = batch->second;
  return problem;
}

class GemmSubject final : public StreamSubject {
 public:
  GemmSubject(GpuContext& gpu, const PrepareOptions& options, LtProblem problem, GemmFormats formats,
              CublasLt::Product product)
      : StreamSubject(gpu, options),
        problem_(std::move(problem)),
        formats_(formats),
        product_(std::move(product)),
        scales_(scales_of(problem_)) {}

  Result<void> make_ready(bool exhaustive) {
    auto candidates = product_.candidates(exhaustive ? kMostCandidates : 1, kGemmWorkspace);
    if (!candidates) return candidates.error();
    if (const auto done = set_up(); !done) return done;
    if (const auto done = allocate(); !done) return done;
    if (const auto done = fill(); !done) return done;
    chosen_ = candidates->front();
    if (exhaustive) {
      if (const auto done = try_all(*candidates); !done) return done;
    }
    return {};
  }

  Result<Check> check() override {
    // What a kernel that writes nothing would leave: NaN in every floating format, -1 in int32.
    if (const auto done =
            checked(gpu_.api, gpu_.api.fill(result_.get(), 0xFF, result_bytes_, gpu_.stream.get()), "cudaMemsetAsync");
        !done) {
      return done.error();
    }
    if (const auto done = enqueue(0); !done) return done.error();
    Check check;
    const std::int64_t rows = problem_.batch * problem_.m;
    for (const Position& at : checked_positions(rows, problem_.n, kCheckedElements, options_.seed)) {
      const auto got =
          element(gpu_, result_.get(), formats_.output, static_cast<std::uint64_t>(at.row * problem_.n + at.column));
      if (!got) return got.error();
      const std::int64_t weight_row = at.row / problem_.m * problem_.n + at.column;  // of the same product
      const Expected expected = gemm_reference(formats_, {formats_.input, activation_seed(0)},
                                               {formats_.input, weight_seed(0)}, at.row, weight_row, problem_.k);
      check.compare(*got, expected, fmt::format("row {}, column {}", at.row, at.column));
    }
    return check;
  }

  std::string algorithm() const override { return product_.describe(chosen_); }

  std::map<std::string, std::string> notes() const override {
    std::map<std::string, std::string> out{{"layout", "TN"},
                                           {"workspace_bytes", fmt::format("{}", chosen_.workspace_bytes)},
                                           {"output_bytes", fmt::format("{}", bits_of(formats_.output) / 8)}};
    if (!scales_.description.empty()) out["scales"] = scales_.description;
    if (problem_.dtype == "fp8") out["fast_accumulation"] = "on";
    if (tried_ > 0) out["algorithms_tried"] = fmt::format("{}", tried_);
    return out;
  }

 protected:
  Result<void> enqueue(std::size_t set) override {
    CublasLt::Product::Operands operands;
    operands.weights = at(weights_, set * aligned(weight_bytes_));
    operands.activations = at(activations_, set * aligned(activation_bytes_));
    operands.result = at(result_, set * aligned(result_bytes_));
    operands.weight_scales = weight_scales_.get();
    operands.activation_scales = activation_scales_.get();
    operands.workspace = workspace_.get();
    return product_.run(chosen_, operands, gpu_.stream.get());
  }

  Result<void> zero_inputs() override {
    for (const auto& [memory, bytes] : {std::pair(weights_.get(), aligned(weight_bytes_)),
                                        std::pair(activations_.get(), aligned(activation_bytes_))}) {
      const auto done = checked(gpu_.api, gpu_.api.fill(memory, 0, options_.rotation.sets * bytes, gpu_.stream.get()),
                                "cudaMemsetAsync");
      if (!done) return done;
    }
    return {};
  }

 private:
  static void* at(const DeviceMemory& memory, std::size_t offset) {
    return static_cast<unsigned char*>(memory.get()) + offset;
  }
  [[nodiscard]] std::uint64_t weight_seed(std::size_t set) const { return hash_of(options_.seed, 2 * set); }
  [[nodiscard]] std::uint64_t activation_seed(std::size_t set) const { return hash_of(options_.seed, 2 * set + 1); }

  Result<void> allocate() {
    weight_bytes_ = bytes_of_elements(formats_.input, problem_.batch * problem_.n * problem_.k);
    activation_bytes_ = bytes_of_elements(formats_.input, problem_.batch * problem_.m * problem_.k);
    result_bytes_ = bytes_of_elements(formats_.output, problem_.batch * problem_.m * problem_.n);
    const std::size_t sets = options_.rotation.sets;
    struct Wanted {
      DeviceMemory* memory;
      std::size_t bytes;
    };
    for (const auto& [memory, bytes] :
         {Wanted{&weights_, sets * aligned(weight_bytes_)}, Wanted{&activations_, sets * aligned(activation_bytes_)},
          Wanted{&result_, sets * aligned(result_bytes_)}, Wanted{&weight_scales_, scales_.weight_bytes},
          Wanted{&activation_scales_, scales_.activation_bytes},
          Wanted{&workspace_, static_cast<std::size_t>(kGemmWorkspace.value())}}) {
      if (bytes == 0) continue;
      auto made = allocate_device(gpu_.api, bytes);
      if (!made) return made.error();
      *memory = *std::move(made);
    }
    return {};
  }

  Result<void> fill() {
    const CudaStream stream = gpu_.stream.get();
    for (std::size_t set = 0; set < options_.rotation.sets; ++set) {
      gpu_.kernels.fill_random(formats_.input, at(weights_, set * aligned(weight_bytes_)),
                               problem_.batch * problem_.n * problem_.k, weight_seed(set), stream);
      gpu_.kernels.fill_random(formats_.input, at(activations_, set * aligned(activation_bytes_)),
                               problem_.batch * problem_.m * problem_.k, activation_seed(set), stream);
    }
    for (const auto& [memory, bytes] : {std::pair(weight_scales_.get(), scales_.weight_bytes),
                                        std::pair(activation_scales_.get(), scales_.activation_bytes)}) {
      if (memory == nullptr) continue;
      if (scales_.fill == LtScales::Fill::float_ones) {
        gpu_.kernels.fill_ones(static_cast<float*>(memory), static_cast<std::int64_t>(bytes / sizeof(float)), stream);
        continue;
      }
      const int one = scales_.fill == LtScales::Fill::ue8m0_ones ? 0x7F : 0x38;  // 2^0; 1.0 in e4m3
      if (const auto done = checked(gpu_.api, gpu_.api.fill(memory, one, bytes, stream), "cudaMemsetAsync"); !done) {
        return done;
      }
    }
    return launched("filling operands");
  }

  // The fastest over a few launches; an algorithm that fails to run is passed over.
  Result<void> try_all(const std::vector<LtCandidate>& candidates) {
    std::optional<Seconds> best;
    LtCandidate fastest = candidates.front();
    for (const LtCandidate& candidate : candidates) {
      chosen_ = candidate;
      if (!enqueue(0)) continue;
      const auto time = timed([&]() -> Result<void> {
        for (int i = 0; i < kLaunchesOfATrial; ++i) {
          if (const auto done = enqueue(static_cast<std::size_t>(i) % options_.rotation.sets); !done) return done;
        }
        return {};
      });
      if (!time) return time.error();
      ++tried_;
      if (!best || *time < *best) {
        best = *time;
        fastest = candidate;
      }
    }
    chosen_ = fastest;
    return {};
  }

  LtProblem problem_;
  GemmFormats formats_;
  CublasLt::Product product_;
  LtScales scales_;
  LtCandidate chosen_;
  int tried_ = 0;
  std::size_t weight_bytes_ = 0, activation_bytes_ = 0, result_bytes_ = 0;
  DeviceMemory weights_, activations_, result_, weight_scales_, activation_scales_, workspace_;
};

Result<CublasLt::Product> product_of(GpuContext& gpu, const LtProblem& problem) {
  if (gpu.cublaslt == nullptr) {
    return Error{ErrorCode::not_calibrated, "cublasLt could not be loaded, and GEMMs need it"};
  }
  return gpu.cublaslt->product(problem);
}

}  // namespace

Result<std::unique_ptr<Subject>> prepare_gemm(GpuContext& gpu, const MeasurementCase& one,
                                              const PrepareOptions& options) {
  const auto formats = gemm_formats(one.attributes.at("dtype"));
  if (!formats) return Error{ErrorCode::not_calibrated, formats.error().message};
  LtProblem problem = problem_of(one);
  auto product = product_of(gpu, problem);
  if (!product) return product.error();
  auto subject = std::make_unique<GemmSubject>(gpu, options, std::move(problem), *formats, *std::move(product));
  if (const auto ready = subject->make_ready(one.kernel == "exhaustive"); !ready) return ready.error();
  return std::unique_ptr<Subject>(std::move(subject));
}

Result<std::string> gemm_choice(GpuContext& gpu, const MeasurementCase& one) {
  const auto product = product_of(gpu, problem_of(one));
  if (!product) return product.error();
  const auto candidates = product->candidates(1, kGemmWorkspace);
  if (!candidates) return candidates.error();
  return product->describe(candidates->front());
}

}  // namespace roofcal::microbench
