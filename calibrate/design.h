// Samples as matrices: what the featurizer makes of them.
#pragma once

#include <span>

#include "calibrate/featurizer.h"
#include "calibrate/matrix.h"
#include "core/sample.h"

namespace roofcal {

struct Design {
  Matrix columns;   ///< one row a sample
  Matrix features;  ///< one row a sample
  Vector times;     ///< seconds

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(times.size()); }
};

[[nodiscard]] inline Design make_design(const Featurizer& featurizer, std::span<const Sample> samples) {
  const auto rows = static_cast<Eigen::Index>(samples.size());
  const std::size_t columns = featurizer.column_names().size();
  const std::size_t features = featurizer.feature_names().size();
  Design design{Matrix(rows, static_cast<Eigen::Index>(columns)), Matrix(rows, static_cast<Eigen::Index>(features)),
                Vector(rows)};
  for (Eigen::Index row = 0; row < rows; ++row) {
    const Sample& sample = samples[static_cast<std::size_t>(row)];
    featurizer.evaluate(sample.shape, {design.columns.row(row).data(), columns},
                        {design.features.row(row).data(), features});
    design.times[row] = sample.time.value();
  }
  return design;
}

}  // namespace roofcal
