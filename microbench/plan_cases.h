// What `roofcal plan --output FILE` asks for, as cases.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/result.h"
#include "db/shape_list.h"
#include "microbench/measurement_case.h"

namespace roofcal::microbench {

struct PlanCases {
  std::vector<MeasurementCase> cases;
  std::vector<std::string> left_out;  ///< "line 7: context_attention is not measured yet"
};

/// GEMMs become cublasLt's first choice. Memory calls become the plain kernel that moves these bytes: read, write, copy
/// (as many read as written) or triad (twice as many). Everything else is left out with its line and reason.
[[nodiscard]] PlanCases plan_cases(const ShapeList& list);

/// Each GEMM of a list once more, as the fastest of all algorithms.
void add_exhaustive(std::vector<MeasurementCase>& cases);

}  // namespace roofcal::microbench
