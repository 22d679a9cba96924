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
  std::string origin;  ///< "builtin" or "store"
  std::string source;  ///< data the coefficients were fitted from, with date and commit
  std::string licence;
  std::string settings;  ///< how the fits were made: form, points, selection, seed
  std::string created_utc;
  std::vector<ClassModel> models;
  std::map<ClassKey, Dispatch> dispatch;  ///< by ClassKey with an empty kernel
};

/// Where the classes of (gpu, op, attributes) lie below a folder of calibrations: "h200_sxm/gemm-bfloat16.json.gz",
/// "b200_sxm/generation_attention-bfloat16-fp8.json.gz" (attribute values in the order of their names). One file holds
/// all frameworks, versions and kernels, so that a question opens one file.
[[nodiscard]] std::filesystem::path calibration_file_name(std::string_view gpu, std::string_view op,
                                                          const Attributes& attributes);

/// Resolves the GPU name that a model was fitted on; nullptr: not known.
using FindGpu = std::function<const GpuSpec*(std::string_view)>;

/// The bytes of a calibration file: gzip'd JSON, the same for equal calibrations.
[[nodiscard]] std::string serialise_calibration(const Calibration& calibration);
/// Errors (bad_data) say what is wrong: damaged, cut off, written by a newer roofcal, a number out of range, a GPU that
/// is not in the catalogue. No input crashes it.
[[nodiscard]] Result<Calibration> parse_calibration(std::string_view bytes, const FindGpu& find_gpu);

/// All or nothing (db/whole_file.h).
[[nodiscard]] Result<void> save_calibration(const Calibration& calibration, const std::filesystem::path& file);
/// As parse_calibration; errors name the file.
[[nodiscard]] Result<Calibration> load_calibration(const std::filesystem::path& file, const FindGpu& find_gpu);

}  // namespace roofcal
