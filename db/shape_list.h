// A list of operator calls as CSV: which shapes matter and how much (`plan --shapes`), or which are to be measured
// (what `plan --output` writes and `measure --plan` reads).
//
// Columns: op; the fields and attributes of each operator under the names that `predict rows` reads ('_' for '-'), an
// empty cell or a missing column being the default; gpu, cache (hot or cold) and weight (a number above 0, default 1),
// all optional. Other columns are passed over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/operator.h"
#include "core/result.h"

namespace roofcal {

struct ListedShape {
  std::int64_t line = 0;  ///< in the file
  const Operator* op = nullptr;
  Attributes attributes;
  Shape shape;
  CacheMode cache = CacheMode::hot;
  double weight = 1.0;
};

struct ShapeList {
  std::string gpu;  ///< what the file says, as it stands there; empty: nothing
  std::vector<ListedShape> shapes;
  std::vector<std::string> passed_over;  ///< columns
};

/// All or nothing. Errors name file, line and value; a file that lists nothing, or two GPUs, is one.
[[nodiscard]] Result<ShapeList> read_shape_list(const std::filesystem::path& file);

}  // namespace roofcal
