// What extrapolation costs: fits on a trimmed range of one field, judged beyond it. Its figures are the `beyond` of the
// featurizers' hints.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/accuracy/dataset.h"
#include "core/gpu_spec.h"
#include "core/result.h"

namespace roofcal::accuracy {

/// One held-back row beyond the range that the fit saw.
struct BeyondRow {
  double octaves = 0.0;  ///< log2 of the size over the range's end
  double error = 0.0;    ///< |time / measured - 1|
  bool covered = false;
  double needed = 0.0;  ///< widening of the interval of log t, an octave, that would have covered the row
};

/// A class, a field and a direction.
struct BeyondTrial {
  ClassKey key;
  std::string field;
  bool above = true;
  std::vector<BeyondRow> rows;
};

/// Fits `points` shapes of the rows that remain when about two octaves at one end of the range of a field are cut off
/// (never more than half of its sizes), for every field and both ends, and predicts what was cut off. Fields with fewer
/// than four sizes, and ends that are zero, say nothing and are left out.
[[nodiscard]] Result<std::vector<BeyondTrial>> try_beyond(const ClassData& data, const GpuSpec& gpu,
                                                          std::size_t points);

/// The largest class of each operator, GPU and framework; all classes of operators with one field.
[[nodiscard]] std::vector<const ClassData*> classes_to_try(const std::vector<ClassData>& classes,
                                                           std::size_t least_rows);

/// A Markdown section: one line an operator, field and direction, classes weighing alike.
[[nodiscard]] std::string beyond_markdown(const std::vector<BeyondTrial>& trials, std::size_t points);

}  // namespace roofcal::accuracy
