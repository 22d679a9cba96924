// A step of a model as a report: what it takes, what it needs, and operator by operator where the time goes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/step_question.h"
#include "predictor/models/description.h"
#include "predictor/step/step_predictor.h"
#include "report/report.h"

namespace roofcal::cli {

struct ToldStep {
  models::ModelDescription model;
  const GpuSpec& gpu;
  Parallelism spread;
  AskedStep asked;
  StepTime time;
  MemoryPlan memory;
  double tokens_a_sequence = 1.0;  ///< that a decode step yields, drafts that were accepted among them
  std::vector<OperatorTime> lines;
  std::vector<std::string> warnings;
  std::shared_ptr<const StepPredictor> keep = nullptr;  ///< what the lines refer to
};

/// One record a GPU; a single one is a card above its operators.
[[nodiscard]] report::Report step_report(const std::vector<ToldStep>& steps, const std::string& phase);
/// One record an operator, for formats that have no place for lists in records.
[[nodiscard]] report::Report operator_rows(const std::vector<ToldStep>& steps);

}  // namespace roofcal::cli
