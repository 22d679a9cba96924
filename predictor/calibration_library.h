// The calibrations of this installation: built-in files, and what the store holds, which wins.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/catalogue.h"
#include "db/store.h"
#include "predictor/calibration_source.h"

namespace roofcal {

class CalibrationLibrary final : public CalibrationSource {
 public:
  /// `builtin`: a folder as calibration_file_name() lays it out, which may be missing. `store` may be null. All outlive
  /// the library. Opens nothing yet: a question reads one built-in file, and of the store what answers it.
  CalibrationLibrary(std::filesystem::path builtin, const GpuCatalogue& catalogue, const Store* store);

  [[nodiscard]] Result<std::vector<const Calibration*>> find(std::string_view gpu, std::string_view op,
                                                             const Attributes& attributes) const override;
  void expect(std::span<const ClassKey> groups) const override;
  [[nodiscard]] Result<std::vector<ClassKey>> available() const override;

  /// (gpu, op, attributes) of the built-in files, from their names, without reading them.
  [[nodiscard]] Result<std::vector<ClassKey>> builtins() const;

 private:
  using Loaded = std::vector<std::unique_ptr<const Calibration>>;
  [[nodiscard]] Result<Loaded> load(std::string_view gpu, std::string_view op, const Attributes& attributes) const;
  /// Of the built-in file; null when there is none. Safe to call from several threads.
  [[nodiscard]] Result<std::unique_ptr<const Calibration>> load_builtin(const std::filesystem::path& name) const;

  std::filesystem::path builtin_;
  const GpuCatalogue& catalogue_;
  const Store* store_;
  mutable std::map<std::filesystem::path, Loaded> loaded_;  // by calibration_file_name()
  mutable std::map<std::filesystem::path, std::unique_ptr<const Calibration>> read_ahead_;  // built-in files, likewise
};

/// The key under which the store keeps the calibration of a group: all kernels of one framework version, that is a
/// ClassKey with an empty kernel. "h200_sxm/gemm-bfloat16/trtllm/1.3.0rc10/hot": what calibration_file_name() makes of
/// GPU, operator and attributes, then the rest.
[[nodiscard]] std::string stored_calibration_key(const ClassKey& group);

}  // namespace roofcal
