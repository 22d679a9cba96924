#include "calibrate/calibration.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "calibrate/class_key_json.h"
#include "calibrate/gzip.h"
#include "calibrate/json_reading.h"
#include "db/whole_file.h"

namespace roofcal {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "roofcal calibration";
constexpr int kVersion = 1;
constexpr std::size_t kLargestText = std::size_t{1} << 28;

Error about(const std::filesystem::path& file, const Error& error) {
  return {error.code, fmt::format("{}: {}; calibrate again, or restore the file", file.string(), error.message)};
}

Error system_error(const std::filesystem::path& file, std::string_view what) {
  return {ErrorCode::io, fmt::format("{}: {}: {}", file.string(), what, std::strerror(errno))};
}

}  // namespace

std::string serialise_calibration(const Calibration& calibration) {
  json models = json::array();
  for (const ClassModel& model : calibration.models) {
    models.push_back(model.to_json());
  }
  json dispatch = json::array();
  for (const auto& [key, tree] : calibration.dispatch) {
    dispatch.push_back({{"key", class_key_to_json(key)}, {"tree", tree.to_json()}});
  }
  const json whole = {{"format", kFormat},
                      {"version", kVersion},
                      {"origin", calibration.origin},
                      {"source", calibration.source},
                      {"licence", calibration.licence},
                      {"settings", calibration.settings},
                      {"created_utc", calibration.created_utc},
                      {"models", models},
                      {"dispatch", dispatch}};
  return gzip_compress(whole.dump());
}

Result<Calibration> parse_calibration(std::string_view bytes, const FindGpu& find_gpu) {
  const auto text = gzip_decompress(bytes, kLargestText);
  if (!text) return text.error();
  const auto whole = guarded([&] { return json::parse(*text); });
  if (!whole) return whole.error();

  Calibration calibration;
  auto heads = guarded([&] {
    require(whole->is_object() && whole->value("format", json()) == kFormat, "it is not a roofcal calibration");
    const auto version = read_integer(*whole, "version", 1, 1'000'000);
    require(version <= kVersion,
            fmt::format("it was written by a newer roofcal (format {}, this one reads {})", version, kVersion));
    calibration.origin = read_string(*whole, "origin");
    calibration.source = read_string(*whole, "source");
    calibration.licence = read_string(*whole, "licence");
    calibration.settings = read_string(*whole, "settings");
    calibration.created_utc = read_string(*whole, "created_utc");
    require(member(*whole, "models").is_array(), "\"models\" is not an array");
    require(member(*whole, "dispatch").is_array(), "\"dispatch\" is not an array");
    std::vector<ClassKey> keys;
    for (const json& model : whole->at("models")) {
      keys.push_back(class_key_from_json(member(model, "key")));
    }
    return keys;
  });
  if (!heads) return heads.error();
  for (std::size_t i = 0; i < heads->size(); ++i) {
    const ClassKey& key = (*heads)[i];
    const GpuSpec* gpu = find_gpu(key.gpu);
    if (gpu == nullptr) return Error{ErrorCode::bad_data, fmt::format("GPU {} is not in the catalogue", key.gpu)};
    auto model = ClassModel::from_json(whole->at("models")[i], *gpu);
    if (!model) return Error{model.error().code, fmt::format("{}: {}", describe(key), model.error().message)};
    calibration.models.push_back(*std::move(model));
  }
  for (const json& entry : whole->at("dispatch")) {
    const auto key = guarded([&] { return class_key_from_json(member(entry, "key")); });
    if (!key) return key.error();
    const auto tree = guarded([&] { return member(entry, "tree"); });
    if (!tree) return tree.error();
    auto dispatch = Dispatch::from_json(*tree);
    if (!dispatch) return Error{dispatch.error().code, fmt::format("{}: {}", describe(*key), dispatch.error().message)};
    calibration.dispatch.emplace(*key, *std::move(dispatch));
  }
  return calibration;
}

Result<void> save_calibration(const Calibration& calibration, const std::filesystem::path& file) {
  const std::string bytes = serialise_calibration(calibration);
  auto place = WholeFile::create(file);
  if (!place) return place.error();
  std::ofstream out(place->unfinished(), std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) return system_error(place->unfinished(), "cannot write");
  return place->keep();
}

Result<Calibration> load_calibration(const std::filesystem::path& file, const FindGpu& find_gpu) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return system_error(file, "cannot open");
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return system_error(file, "cannot read");
  auto calibration = parse_calibration(bytes, find_gpu);
  if (!calibration) return about(file, calibration.error());
  return calibration;
}

}  // namespace roofcal
