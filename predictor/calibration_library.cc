#include "predictor/calibration_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <thread>

namespace roofcal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".json.gz";

// "h200_sxm/gemm-bfloat16": GPU, operator and attributes without the ending of a file.
std::string stem_of(std::string_view gpu, std::string_view op, const Attributes& attributes) {
  std::string stem = calibration_file_name(gpu, op, attributes).generic_string();
  stem.resize(stem.size() - kSuffix.size());
  return stem;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

// The inverse of stem_of; nullopt when the name is none of an operator known here. Attribute values hold no '-'.
std::optional<ClassKey> key_of(const std::string& gpu, const std::string& file) {
  const auto parts = split(file, '-');
  const Operator* op = find_operator(parts.front());
  if (op == nullptr || parts.size() != op->attributes().size() + 1) return std::nullopt;
  std::set<std::string> names;
  for (const AttributeField& attribute : op->attributes()) names.emplace(attribute.name);
  ClassKey key;
  key.gpu = gpu;
  key.op = parts.front();
  std::size_t i = 1;
  for (const std::string& name : names) key.attributes.emplace(name, parts[i++]);
  return key;
}

Error failed(const fs::path& path, const std::error_code& failure) {
  return Error{ErrorCode::io, fmt::format("cannot read {}: {}", path.string(), failure.message())};
}

}  // namespace

std::string stored_calibration_key(const ClassKey& group) {
  return fmt::format("{}/{}/{}/{}", stem_of(group.gpu, group.op, group.attributes), group.framework, group.version,
                     to_string(group.cache));
}

CalibrationLibrary::CalibrationLibrary(fs::path builtin, const GpuCatalogue& catalogue, const Store* store)
    : builtin_(std::move(builtin)), catalogue_(catalogue), store_(store) {}

Result<CalibrationLibrary::Loaded> CalibrationLibrary::load(std::string_view gpu, std::string_view op,
                                                            const Attributes& attributes) const {
  const auto find_gpu = [this](std::string_view name) { return catalogue_.spec(name); };
  Loaded out;
  if (store_ != nullptr) {
    ClassFilter filter;
    filter.gpu = gpu;
    filter.op = op;
    const auto stored = store_->latest_calibrations(filter);
    if (!stored) return stored.error();
    const std::string prefix = stem_of(gpu, op, attributes) + "/";
    for (const auto& entry : *stored) {
      if (!entry.key.starts_with(prefix)) continue;
      auto calibration = parse_calibration(entry.blob, find_gpu);
      if (!calibration) {
        return Error{calibration.error().code,
                     fmt::format("calibration {} of the store: {}; `roofcal calibrate` makes it anew", entry.key,
                                 calibration.error().message)};
      }
      calibration->origin = "store";
      out.push_back(std::make_unique<const Calibration>(*std::move(calibration)));
    }
  }
  const fs::path name = calibration_file_name(gpu, op, attributes);
  if (auto ahead = read_ahead_.extract(name)) {
    out.push_back(std::move(ahead.mapped()));
    return out;
  }
  auto builtin = load_builtin(name);
  if (!builtin) return builtin.error();
  if (*builtin != nullptr) out.push_back(*std::move(builtin));
  return out;
}

Result<std::unique_ptr<const Calibration>> CalibrationLibrary::load_builtin(const fs::path& name) const {
  const fs::path file = builtin_ / name;
  std::error_code failure;
  const bool there = fs::exists(file, failure);
  if (failure) return failed(file, failure);
  if (!there) return std::unique_ptr<const Calibration>();
  auto calibration = load_calibration(file, [this](std::string_view gpu) { return catalogue_.spec(gpu); });
  if (!calibration) return calibration.error();
  calibration->origin = "builtin";
  return std::unique_ptr<const Calibration>(std::make_unique<const Calibration>(*std::move(calibration)));
}

void CalibrationLibrary::expect(std::span<const ClassKey> groups) const {
  std::set<fs::path> names;
  for (const ClassKey& group : groups) {
    fs::path name = calibration_file_name(group.gpu, group.op, group.attributes);
    if (!loaded_.contains(name) && !read_ahead_.contains(name)) names.insert(std::move(name));
  }
  if (names.size() < 2) return;
  std::vector<fs::path> waiting(names.begin(), names.end());
  // The largest file first: the others are read beside it.
  std::error_code missing;
  std::ranges::sort(waiting, std::ranges::greater(), [&](const fs::path& name) {
    const auto size = fs::file_size(builtin_ / name, missing);
    return missing ? std::uintmax_t{0} : size;
  });
  const std::size_t readers = std::min<std::size_t>(waiting.size(), std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::unique_ptr<const Calibration>> read(waiting.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < waiting.size(); i = next++) {
      auto calibration = load_builtin(waiting[i]);
      if (calibration) read[i] = *std::move(calibration);  // what cannot be read is told when it is asked for
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < readers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (read[i] != nullptr) read_ahead_.emplace(waiting[i], std::move(read[i]));
  }
}

Result<std::vector<const Calibration*>> CalibrationLibrary::find(std::string_view gpu, std::string_view op,
                                                                 const Attributes& attributes) const {
  const fs::path name = calibration_file_name(gpu, op, attributes);
  auto known = loaded_.find(name);
  if (known == loaded_.end()) {
    auto loaded = load(gpu, op, attributes);
    if (!loaded) return loaded.error();
    known = loaded_.emplace(name, *std::move(loaded)).first;
  }
  std::vector<const Calibration*> out;
  for (const auto& calibration : known->second) out.push_back(calibration.get());
  return out;
}

Result<std::vector<ClassKey>> CalibrationLibrary::builtins() const {
  std::vector<ClassKey> out;
  std::error_code failure;
  if (!fs::is_directory(builtin_, failure)) return out;
  for (fs::recursive_directory_iterator it(builtin_, failure), end; !failure && it != end; it.increment(failure)) {
    const std::string file = it->path().filename().string();
    if (!file.ends_with(kSuffix)) continue;
    auto key = key_of(it->path().parent_path().filename().string(), file.substr(0, file.size() - kSuffix.size()));
    if (key) out.push_back(*std::move(key));
  }
  if (failure) return failed(builtin_, failure);
  std::ranges::sort(out);
  return out;
}

Result<std::vector<ClassKey>> CalibrationLibrary::available() const {
  auto known = builtins();
  if (!known || store_ == nullptr) return known;
  const auto stored = store_->latest_calibrations({});
  if (!stored) return stored.error();
  for (const auto& entry : *stored) {
    const auto parts = split(entry.key, '/');
    auto key = parts.size() < 2 ? std::nullopt : key_of(parts[0], parts[1]);
    if (key) known->push_back(*std::move(key));
  }
  std::ranges::sort(*known);
  known->erase(std::ranges::unique(*known).begin(), known->end());
  return known;
}

}  // namespace roofcal
