// Built-in models and calibrations as tests of steps use them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "db/catalogue.h"
#include "predictor/calibration_library.h"
#include "predictor/models/library.h"
#include "predictor/predictor.h"
#include "predictor/step/step_predictor.h"

namespace roofcal {

inline models::ModelDescription described(const std::string& name, const std::string& dtype = {}) {
  models::ReadOptions options;
  options.dtype = dtype;
  auto model = models::ModelLibrary(ROOFCAL_MODELS).describe(name, options);
  EXPECT_TRUE(model) << name << ": " << (model ? "" : model.error().message);
  return *model;
}

inline StepTokens decode(std::int64_t batch, std::int64_t context) {
  StepTokens tokens;
  tokens.decode = {batch, context, 0};
  return tokens;
}

inline StepTokens prefill(std::int64_t batch, std::int64_t length, std::int64_t prefix = 0) {
  StepTokens tokens;
  tokens.prefill = {batch, length, prefix};
  return tokens;
}

}  // namespace roofcal
