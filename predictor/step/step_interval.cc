#include "predictor/step/step_interval.h"

#include <cmath>

namespace roofcal {

void StepInterval::reset(std::size_t classes) {
  below_.assign(classes, {});
  above_.assign(classes, {});
}

void StepInterval::add(std::size_t of_class, Seconds below, Seconds above) {
  below_[of_class].add(below.value());
  above_[of_class].add(above.value());
}

Seconds StepInterval::below() const {
  double variance = 0.0;
  for (const Sums& sums : below_) variance += sums.variance(correlation_);
  return Seconds(std::sqrt(variance));
}

Seconds StepInterval::above() const {
  double variance = 0.0;
  for (const Sums& sums : above_) variance += sums.variance(correlation_);
  return Seconds(std::sqrt(variance));
}

}  // namespace roofcal
