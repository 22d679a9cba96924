// The interval of a sum of operator times.
#pragma once

#include <cstddef>
#include <vector>

#include "core/units.h"

namespace roofcal {

/// How much the errors of two shapes of one kernel class have in common. Calls of one shape err alike, so that a line
/// of a breakdown enters with all its calls at once; shapes of different classes err independently; between the two
/// lies a class, whose model may be off as a whole (another clock, another driver) or at single shapes (a kernel that
/// switches). Chosen by replaying steps of held-out measurements, see docs/models.md.
inline constexpr double kClassCorrelation = 0.1;

/// Collects half-widths by class. A reset keeps the memory.
class StepInterval {
 public:
  explicit StepInterval(double correlation = kClassCorrelation) : correlation_(correlation) {}

  void reset(std::size_t classes);
  /// Below and above the time of all calls of one shape. `of_class` < classes.
  void add(std::size_t of_class, Seconds below, Seconds above);
  [[nodiscard]] Seconds below() const;
  [[nodiscard]] Seconds above() const;

 private:
  struct Sums {
    double linear = 0.0;
    double squared = 0.0;
    void add(double value) {
      linear += value;
      squared += value * value;
    }
    [[nodiscard]] double variance(double correlation) const {
      return correlation * linear * linear + (1.0 - correlation) * squared;
    }
  };
  double correlation_;
  std::vector<Sums> below_, above_;
};

}  // namespace roofcal
