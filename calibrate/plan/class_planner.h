// What to measure next of one class.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calibrate/plan/expected_error.h"
#include "calibrate/plan/measurement_cost.h"
#include "calibrate/random.h"
#include "core/gpu_spec.h"
#include "core/result.h"
#include "core/sample.h"

namespace roofcal {

/// One class of shapes and what is known about it.
struct PlanClass {
  ClassKey key;
  GpuSpec gpu;
  std::vector<Shape> measured;
  struct Candidate {
    Shape shape;
    Seconds likely{};  ///< of one call
  };
  std::vector<Candidate> candidates;
  struct Target {
    Shape shape;
    double weight = 1.0;
  };
  std::vector<Target> targets;  ///< the shapes that matter
  double weight = 1.0;          ///< of the class among the others
  /// Of a model of what is measured, on shapes it had not seen: a fraction. Sets the scale of what is still to gain.
  std::optional<double> error;
};

class ClassPlanner {
 public:
  /// Errors: a class without candidates or targets, an operator that cannot be calibrated on the GPU.
  [[nodiscard]] static Result<ClassPlanner> create(const PlanClass& what, const MeasurementCost& cost,
                                                   std::uint64_t seed);

  /// Expected |log error| over the targets, weighted.
  [[nodiscard]] double expected() const { return error_.expected(); }

  /// A few candidates that are worth measuring together, given what is measured and taken; empty when nothing fits into
  /// `left`. `rate`: by how much they lower the expected error a second.
  struct Batch {
    std::vector<std::size_t> candidates;
    Seconds cost{};
    double rate = 0.0;
  };
  [[nodiscard]] Batch propose(Seconds left);
  void take(const Batch& batch);

  [[nodiscard]] Seconds cost(std::size_t candidate) const { return costs_[candidate]; }
  /// A candidate as an index into PlanClass::candidates.
  [[nodiscard]] std::size_t original(std::size_t candidate) const { return originals_[candidate]; }

 private:
  ClassPlanner(ExpectedError error, std::uint64_t seed) : error_(std::move(error)), random_(seed) {}
  [[nodiscard]] std::optional<std::size_t> best_of_a_few(const Vector& squared, Seconds left, double& gain);

  ExpectedError error_;
  Random random_;
  std::vector<std::size_t> originals_;
  std::vector<Seconds> costs_;
  Matrix spread_;   // standardised coordinates in which candidates are kept apart
  Vector squared_;  // squared distance of each candidate to what is measured or taken; 0: taken
  std::size_t measured_ = 0;
};

}  // namespace roofcal
