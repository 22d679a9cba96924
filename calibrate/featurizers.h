// The featurizers that there are: a factory an operator, each in its own file. Adding one: a declaration here and a
// line in featurizers.cc.
#pragma once

#include <memory>

#include "calibrate/featurizer.h"

namespace roofcal {

[[nodiscard]] std::unique_ptr<Featurizer> make_gemm_featurizer(const GpuSpec& gpu, const Attributes& attributes);
[[nodiscard]] std::unique_ptr<Featurizer> make_context_attention_featurizer(const GpuSpec& gpu,
                                                                            const Attributes& attributes);
[[nodiscard]] std::unique_ptr<Featurizer> make_generation_attention_featurizer(const GpuSpec& gpu,
                                                                               const Attributes& attributes);
[[nodiscard]] std::unique_ptr<Featurizer> make_context_mla_featurizer(const GpuSpec& gpu, const Attributes& attributes);
[[nodiscard]] std::unique_ptr<Featurizer> make_generation_mla_featurizer(const GpuSpec& gpu,
                                                                         const Attributes& attributes);
[[nodiscard]] std::unique_ptr<Featurizer> make_moe_featurizer(const GpuSpec& gpu, const Attributes& attributes);
[[nodiscard]] std::unique_ptr<Featurizer> make_collective_featurizer(const GpuSpec& gpu, const Attributes& attributes);
[[nodiscard]] std::unique_ptr<Featurizer> make_memory_featurizer(const GpuSpec& gpu, const Attributes& attributes);

}  // namespace roofcal
