// The mean of a class model: t = X w with w >= 0, each column of X a physical time.
#pragma once

#include "calibrate/matrix.h"

namespace roofcal {

/// Weights that minimise the squared relative error sum((X_i w / t_i - 1)^2), reweighted a few rounds by
/// 1 / max(|log(X_i w / t_i)|, 0.05), so that kernel switches do not pull the whole surface. Columns are scaled to
/// RMS 1; ridge 1e-4. `columns`: one row a sample, >= 0; `times` in seconds, > 0.
[[nodiscard]] Vector fit_physical_mean(const Matrix& columns, const Vector& times);

}  // namespace roofcal
