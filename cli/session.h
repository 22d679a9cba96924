// One run of the program: its streams, and what verbs work on, opened when first asked for.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/options.h"
#include "core/result.h"
#include "db/catalogue.h"
#include "db/store.h"
#include "predictor/calibration_library.h"
#include "predictor/predictor.h"
#include "report/report.h"
#include "report/write.h"

namespace roofcal::cli {

class Session {
 public:
  /// `out` gets results only; `err` progress, warnings and errors. `terminal`: whether a person watches `err`.
  Session(CommonOptions options, std::ostream& out, std::ostream& err, bool terminal);

  [[nodiscard]] const CommonOptions& options() const { return options_; }
  [[nodiscard]] std::ostream& out() { return out_; }
  [[nodiscard]] std::ostream& err() { return err_; }
  [[nodiscard]] bool terminal() const { return terminal_; }
  /// --format, else `fallback`.
  [[nodiscard]] report::Format format(report::Format fallback = report::Format::table) const;

  [[nodiscard]] std::filesystem::path store_path() const;
  /// The store for writing, made when it is missing. Once a session.
  [[nodiscard]] Result<Store*> writable_store();
  /// The store as it is; nullptr when there is none yet.
  [[nodiscard]] Result<Store*> store();
  /// The store as it is; an error when there is none yet.
  [[nodiscard]] Result<Store*> existing_store();

  /// Built-in GPUs, and those that the store adds or replaces.
  [[nodiscard]] Result<const GpuCatalogue*> catalogue();
  [[nodiscard]] Result<const CalibrationLibrary*> library();
  [[nodiscard]] Result<const Predictor*> predictor();

  /// One line on stderr, "roofcal: warning: ...".
  void warn(std::string_view message);
  void print(const report::Report& report, report::Format fallback = report::Format::table);

 private:
  CommonOptions options_;
  std::ostream& out_;
  std::ostream& err_;
  bool terminal_;
  // The one that writes is closed last: only it can clear away the write-ahead log.
  std::optional<Store> writable_;
  std::optional<Store> store_;
  std::optional<GpuCatalogue> catalogue_;
  std::optional<CalibrationLibrary> library_;
  std::optional<Predictor> predictor_;
};

}  // namespace roofcal::cli
