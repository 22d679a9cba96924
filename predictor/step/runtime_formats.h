// The formats that a model runs in, where its config leaves them to the runtime.
#pragma once

#include <string_view>

#include "core/gpu_spec.h"
#include "predictor/models/description.h"

namespace roofcal {

/// mxfp4 weights name no format of the activations. TensorRT-LLM takes mxfp8 on GPUs with fp4 arithmetic (Blackwell and
/// later) and 16 bits elsewhere; other frameworks are taken to keep 16 bits. Changes the formats, and adds a note where
/// it did. `framework`: empty for the default, TensorRT-LLM. Not for a format that was asked for.
void choose_runtime_formats(models::ModelDescription& model, const GpuSpec& gpu, std::string_view framework);

}  // namespace roofcal
