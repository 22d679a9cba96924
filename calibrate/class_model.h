// A frozen calibration of one kernel class: log t = log(X w) + residual(z), with a conformal interval. Evaluates in
// microseconds, holds no N x N matrix, factorises nothing, and never sees a store.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/gpu_spec.h"
#include "core/result.h"
#include "core/roofline.h"
#include "core/sample.h"

namespace roofcal {

/// Where a shape lies relative to the calibrated points.
enum class Region { inside, edge, outside };

struct Estimate {
  Seconds time{};
  Seconds lo{};  ///< 5 % quantile
  Seconds hi{};  ///< 95 % quantile
  Region region = Region::inside;
  std::uint32_t outside_fields = 0;  ///< bit i: field i lies beyond the calibrated range
  double launch_share = 0.0;         ///< share of the constant (launch) column in the physical mean
  double widening = 0.0;             ///< what lying outside added to both sides of the interval, in log t
  Roofline bound;                    ///< the hard bound, on the model's GPU
};

struct Neighbour {
  Shape shape;
  double distance = 0.0;        ///< Euclidean in log2 of the sizes
  std::optional<Seconds> time;  ///< absent in built-in calibrations, which publish no measured times
};

/// What a fit achieved on points it had not seen (K-fold), and from what it was made.
struct FitFigures {
  std::size_t rows = 0;    ///< samples of the class
  std::size_t points = 0;  ///< shapes fitted
  double mape = 0.0;       ///< cross-validated, a fraction
  double p95_ape = 0.0;
  double coverage90 = 0.0;      ///< of the cross-validated interval
  double kernel_seconds = 0.0;  ///< GPU time of the points, one repeat each
  /// The least measured time of a point over its hard bound, at most 1: below 1 some measurements beat the bound
  /// (caches that hold more than they should, pages of a key/value cache that alias), and estimates may, too, down to
  /// this share.
  double least_over_bound = 1.0;
  bool host_bound = false;  ///< plateaus say that the host, not the GPU, was timed
};

class ClassModel {
 public:
  ClassModel(ClassModel&&) noexcept;
  ClassModel& operator=(ClassModel&&) noexcept;
  ~ClassModel();

  [[nodiscard]] const ClassKey& key() const;
  [[nodiscard]] const FitFigures& figures() const;

  /// Empty, or, where no call of the class was ever timed, what its coefficients were derived from.
  [[nodiscard]] const std::string& derived_from() const;

  /// Estimates for many shapes (the fast path). No estimate lies below the hard bound of core/roofline.h, or, where
  /// measurements of the class beat that, below figures().least_over_bound of it.
  /// Domain: shapes legal for the operator. `out.size() == shapes.size()`.
  void predict(std::span<const Shape> shapes, std::span<Estimate> out) const;
  [[nodiscard]] Estimate predict(const Shape& shape) const;

  /// The physical mean X w alone, without residual: what leads beyond the calibrated range.
  [[nodiscard]] Seconds mean(const Shape& shape) const;

  /// The range of a field over the calibrated points.
  struct Range {
    std::int64_t min = 0;
    std::int64_t max = 0;
  };
  [[nodiscard]] Range calibrated_range(std::size_t field) const;

  /// The measured time of a calibrated shape; nullopt for other shapes and in built-in calibrations. Logarithmic in the
  /// points.
  [[nodiscard]] std::optional<Seconds> measured(const Shape& shape) const;

  /// The calibrated points closest to a shape, nearest first.
  [[nodiscard]] std::vector<Neighbour> nearest(const Shape& shape, std::size_t count) const;

  /// Serialised coefficients. Deterministic: equal models give equal bytes.
  [[nodiscard]] nlohmann::json to_json() const;
  [[nodiscard]] static Result<ClassModel> from_json(const nlohmann::json& json, const GpuSpec& gpu);

  struct State;
  explicit ClassModel(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace roofcal
