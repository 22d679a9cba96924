// A set of frozen class models with their dispatch and where they come from: what a calibration file holds.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calibrate/class_model.h"
#include "calibrate/dispatch.h"
#include "core/result.h"

namespace roofcal {

/// A framework version's kernels of one operator on one GPU, as asked for: a ClassKey with an empty kernel.
struct Calibration {
  std::string origin;   ///< "builtin" or "store"
  std::string source;   ///< data the coefficients were fitted from, with date and commit
  std::string licence;
  std::string created_utc;
  std::vector<ClassModel> models;
  std::map<ClassKey, Dispatch> dispatch;  ///< by ClassKey with an empty kernel
};

/// Where the classes of (gpu, op, attributes) lie below a folder of calibrations: "h200_sxm/gemm-bfloat16.json.gz",
/// "b200_sxm/generation_attention-bfloat16-fp8.json.gz" (attribute values in the order of their names). One file holds all
/// frameworks, versions and kernels, so that a question opens one file.
[[nodiscard]] std::filesystem::path calibration_file_name(std::string_view gpu, std::string_view op,
                                                          const Attributes& attributes);

/// Gzip'd JSON, one file. Deterministic bytes. Written to a temporary name and renamed: all or nothing.
[[nodiscard]] Result<void> save_calibration(const Calibration& calibration, const std::filesystem::path& file);
/// `find_gpu` resolves the GPU name that models were fitted on.
[[nodiscard]] Result<Calibration> load_calibration(const std::filesystem::path& file,
                                                   const std::function<const GpuSpec*(std::string_view)>& find_gpu);

}  // namespace roofcal
