// The featurizers that there are: a factory an operator, each in its own file. Adding one: a declaration here and a
// line in featurizers.cc.
#pragma once

#include <memory>

#include "calibrate/featurizer.h"

namespace roofcal {

[[nodiscard]] std::unique_ptr<Featurizer> make_gemm_featurizer(const GpuSpec& gpu, const Attributes& attributes);

}  // namespace roofcal
