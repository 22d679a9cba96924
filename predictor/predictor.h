// Answers questions about single operators from frozen calibrations, saying how it knows and how sure it is.
// A question is resolved once (which calibration, framework, version and kernels answer), then costs microseconds a
// shape.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/calibration.h"
#include "core/roofline.h"
#include "db/catalogue.h"
#include "predictor/calibration_source.h"

namespace roofcal {

enum class Provenance { measured, interpolated, extrapolated, transferred, roofline };
inline constexpr int kProvenanceCount = 5;
[[nodiscard]] std::string_view to_string(Provenance provenance);

/// What is asked, all but the sizes. Empty strings ask for the default: framework trtllm, else vllm, else sglang, else
/// the first by name; the newest version; the kernel that the framework was seen to choose for the shape.
struct Question {
  std::string gpu;  ///< any spelling the catalogue knows
  std::string op;
  Attributes attributes;  ///< canonical spelling
  std::string framework, version, kernel;
  CacheMode cache = CacheMode::hot;
};

/// One answer without text: what the fast path fills.
struct Answer {
  Seconds time{}, lo{}, hi{};  ///< lo, hi: the 90 % interval
  Seconds roofline{};          ///< the hard bound
  Limit bound = Limit::compute;
  Provenance provenance = Provenance::roofline;
  std::uint32_t outside_fields = 0;  ///< bit i: field i lies beyond the calibrated range
  std::uint16_t kernel = 0;          ///< index into Resolution::kernels()

  [[nodiscard]] double efficiency() const { return roofline / time; }
};

/// A resolved question. Immutable, safe to share by threads, valid as long as the Predictor it came from.
class Resolution {
 public:
  ~Resolution();
  [[nodiscard]] const Operator& op() const;
  [[nodiscard]] const GpuSpec& gpu() const;  ///< the GPU that was asked about
  [[nodiscard]] const std::string& framework() const;
  [[nodiscard]] const std::string& version() const;
  [[nodiscard]] std::span<const std::string> kernels() const;
  /// Whether a kernel's times are partly the host's, which set the pace while it was timed.
  [[nodiscard]] bool host_bound(std::uint16_t kernel) const;
  /// All frameworks that could have answered, by name.
  [[nodiscard]] std::span<const std::string> frameworks() const;
  /// What stands in for what was asked: holds for every answer. Empty when nothing does.
  [[nodiscard]] std::span<const std::string> warnings() const;

  /// Shapes must be legal for the operator (parse_call checks). `out.size() == shapes.size()`.
  void predict(std::span<const Shape> shapes, std::span<Answer> out) const;
  [[nodiscard]] Answer predict(const Shape& shape) const;
  /// Warnings of one answer beside those of the resolution: along which dimension it leaves the calibrated range, ...
  [[nodiscard]] std::vector<std::string> warnings(const Shape& shape, const Answer& answer) const;
  [[nodiscard]] std::vector<Neighbour> nearest(const Shape& shape, const Answer& answer, std::size_t count) const;

  struct State;
  explicit Resolution(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

class Predictor {
 public:
  /// Both outlive the predictor.
  Predictor(const GpuCatalogue& catalogue, const CalibrationSource& calibrations);

  /// Errors: unknown GPU (usage, with suggestions); a dtype or an operator that was not calibrated, a number format
  /// that the GPU lacks (not_calibrated, with a list of what there is). Another version, kernel, framework or GPU
  /// stands in with a warning and provenance `transferred`.
  [[nodiscard]] Result<std::shared_ptr<const Resolution>> resolve(const Question& question) const;
  /// Says which operators of a GPU will be asked about soon: their calibrations are read side by side.
  void expect(std::span<const ClassKey> groups) const { calibrations_.expect(groups); }
  /// A GPU of the catalogue by any of its names. Errors: usage, with names that are close.
  [[nodiscard]] Result<const GpuSpec*> gpu(std::string_view name) const;

 private:
  const GpuCatalogue& catalogue_;
  const CalibrationSource& calibrations_;
};

}  // namespace roofcal
