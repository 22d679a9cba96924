// What a ClassModel holds. Private to the calibrate module: fit.cc fills it, class_model.cc evaluates it.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/calibrated_range.h"
#include "calibrate/class_model.h"
#include "calibrate/curve.h"
#include "calibrate/feature_bins.h"
#include "calibrate/featurizer.h"
#include "calibrate/gaussian_process.h"
#include "calibrate/interval.h"
#include "calibrate/matrix.h"
#include "calibrate/point_set.h"
#include "calibrate/tree_ensemble.h"

namespace roofcal {

struct ClassModel::State {
  ClassKey key;
  FitFigures figures;
  std::string derived_from;
  GpuSpec gpu;
  const Operator* op = nullptr;
  std::unique_ptr<Featurizer> featurizer;

  std::vector<double> weights;     // of the columns, seconds a unit
  std::size_t launch_column = 0;   // the number of columns when there is none; derived
  std::vector<BeyondCost> beyond;  // of the operator's fields; derived
  FeatureBins bins;                // of the features: trees and interval scales share them
  TreeEnsemble trees;
  GaussianProcess process;
  double process_share = 0.0;  // residual = share * process + (1 - share) * trees
  IntervalModel interval;
  std::size_t size_field = 0;
  CalibratedRange range;
  PointSet points;
  Curve curve;  // instead of mean and residual, for shapes of one field

  // Where one kernel name hides several kernels: a model of each, ascending in the featurizer's class_split; then all
  // of the above but key, figures, gpu, op and featurizer is empty.
  struct Part {
    int split = 0;
    ClassModel model;
  };
  std::vector<Part> parts;

  /// The part of a shape, or the one with the closest split where the shape's own was not calibrated. Precondition:
  /// there are parts.
  [[nodiscard]] const Part& part_of(const Shape& shape) const {
    const int split = featurizer->class_split(shape);
    const Part* closest = parts.data();
    for (const Part& part : parts) {
      if (std::abs(part.split - split) < std::abs(closest->split - split)) closest = &part;
    }
    return *closest;
  }
};

}  // namespace roofcal
