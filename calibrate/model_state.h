// What a ClassModel holds. Private to the calibrate module: fit.cc fills it, class_model.cc evaluates it.
#pragma once

#include <memory>

#include "calibrate/calibrated_range.h"
#include "calibrate/class_model.h"
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
  GpuSpec gpu;
  const Operator* op = nullptr;
  std::unique_ptr<Featurizer> featurizer;

  std::vector<double> weights;    // of the columns, seconds a unit
  std::size_t launch_column = 0;  // the number of columns when there is none; derived
  FeatureBins bins;               // of the features: trees and interval scales share them
  TreeEnsemble trees;
  GaussianProcess process;
  double process_share = 0.0;  // residual = share * process + (1 - share) * trees
  IntervalModel interval;
  std::size_t size_field = 0;
  CalibratedRange range;
  PointSet points;
};

}  // namespace roofcal
