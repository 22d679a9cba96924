#include "cli/session.h"

#include <fmt/format.h>

#include <ostream>

namespace roofcal::cli {

namespace fs = std::filesystem;

Session::Session(CommonOptions options, std::ostream& out, std::ostream& err, bool terminal)
    : options_(std::move(options)), out_(out), err_(err), terminal_(terminal) {}

report::Format Session::format(report::Format fallback) const {
  return report::parse_format(options_.format).value_or(fallback);
}

fs::path Session::store_path() const { return options_.db.empty() ? default_store_path() : fs::path(options_.db); }

Result<Store*> Session::writable_store() {
  if (!writable_) {
    auto opened = Store::open(store_path(), Store::Access::write);
    if (!opened) return opened.error();
    writable_.emplace(*std::move(opened));
  }
  return &*writable_;
}

Result<Store*> Session::store() {
  if (!store_) {
    std::error_code failure;
    const bool there = fs::exists(store_path(), failure);
    if (failure) {
      return Error{ErrorCode::io,
                   fmt::format("cannot look at the store {}: {}", store_path().string(), failure.message())};
    }
    if (!there) return static_cast<Store*>(nullptr);
    auto opened = Store::open(store_path(), Store::Access::read);
    if (!opened) return opened.error();
    store_.emplace(*std::move(opened));
  }
  return &*store_;
}

Result<Store*> Session::existing_store() {
  auto found = store();
  if (found && *found == nullptr) {
    return Error{ErrorCode::io,
                 fmt::format("there is no store at {}: `roofcal import FILE` makes one, --db names another",
                             store_path().string())};
  }
  return found;
}

Result<const GpuCatalogue*> Session::catalogue() {
  if (!catalogue_) {
    auto loaded = GpuCatalogue::load(catalogue_folder());
    if (!loaded) return loaded.error();
    const auto added_to = store();
    if (!added_to) return added_to.error();
    if (*added_to != nullptr) {
      const auto gpus = (*added_to)->gpus();
      if (!gpus) return gpus.error();
      for (const auto& [name, json] : *gpus) {
        const auto added = loaded->add(json, store_path().string() + ": " + name, "store");
        if (!added) return added.error();
      }
    }
    catalogue_.emplace(*std::move(loaded));
  }
  return &*catalogue_;
}

Result<const CalibrationLibrary*> Session::library() {
  if (!library_) {
    const auto known = catalogue();
    if (!known) return known.error();
    const auto stored = store();
    if (!stored) return stored.error();
    library_.emplace(builtin_folder(), **known, *stored);
  }
  return &*library_;
}

Result<const Predictor*> Session::predictor() {
  if (!predictor_) {
    const auto calibrations = library();
    if (!calibrations) return calibrations.error();
    predictor_.emplace(*catalogue_, **calibrations);
  }
  return &*predictor_;
}

void Session::warn(std::string_view message) { err_ << "roofcal: warning: " << message << '\n'; }

void Session::print(const report::Report& report, report::Format fallback) {
  report::write(report, format(fallback), out_);
}

}  // namespace roofcal::cli
