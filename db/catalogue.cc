#include "db/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/spelling.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Bytes a clock that an SM draws from L2, where a file gives no bandwidth: 64 from Volta on (db/catalogue/README.md).
constexpr double kL2BytesPerClockAndSm = 64.0;
// What a figure can be: outside lies a slip of units (GB or MHz for the SI unit). By the end of its name, the most
// particular first.
struct Range {
  std::string_view ending;
  double least, most;
};
constexpr std::array<Range, 8> kRanges{{{"sm_count", 1, 1e5},
                                        {"memory_bytes", 1e8, 1e15},
                                        {"_bytes_per_s", 1e8, 1e15},
                                        {"_flops_per_s", 1e9, 1e18},
                                        {"_ops_per_s", 1e9, 1e18},
                                        {"_hz", 1e7, 1e11},
                                        {"_w", 1, 2e4},
                                        {"", 1e-12, 1e18}}};

constexpr std::array<std::pair<std::string_view, Rate>, kRateCount> kPeaks{{{"fp64_flops_per_s", Rate::fp64},
                                                                            {"fp32_flops_per_s", Rate::fp32},
                                                                            {"tf32_flops_per_s", Rate::tf32},
                                                                            {"float16_flops_per_s", Rate::float16},
                                                                            {"bfloat16_flops_per_s", Rate::bfloat16},
                                                                            {"fp8_flops_per_s", Rate::fp8},
                                                                            {"fp4_flops_per_s", Rate::fp4},
                                                                            {"int8_ops_per_s", Rate::int8}}};

Error bad(std::string_view where, std::string_view what) {
  return Error{ErrorCode::bad_data, fmt::format("{}: {}", where, what)};
}

Result<Figure> read_figure(const std::string& name, const ordered_json& json, const ordered_json& sources,
                           std::string_view where) {
  Figure figure;
  figure.name = name;
  const ordered_json* value = &json;
  if (json.is_object()) {
    if (!json.contains("value")) return bad(where, fmt::format("figures.{} has no value", name));
    value = &json["value"];
    for (const auto& [key, out] : {std::pair("source", &figure.source), std::pair("note", &figure.note)}) {
      if (!json.contains(key)) continue;
      if (!json[key].is_string()) return bad(where, fmt::format("figures.{}.{} is not text", name, key));
      *out = json[key].get<std::string>();
    }
    if (sources.contains(figure.source) && sources[figure.source].is_string()) {
      figure.source = sources[figure.source].get<std::string>();
    }
  }
  if (!value->is_number()) return bad(where, fmt::format("figures.{} is not a number: {}", name, value->dump()));
  figure.value = value->get<double>();
  const Range& range = *std::ranges::find_if(kRanges, [&](const Range& one) { return name.ends_with(one.ending); });
  if (!(figure.value >= range.least && figure.value <= range.most)) {
    return bad(where, fmt::format("figures.{} = {} is outside {} .. {} (SI units)", name, figure.value, range.least,
                                  range.most));
  }
  if (range.ending == "sm_count" && figure.value != std::floor(figure.value)) {
    return bad(where, fmt::format("figures.{} = {} is not a whole number", name, figure.value));
  }
  return figure;
}

// Letters and digits of an alias that a longer name must begin with to be taken for a variety of that GPU.
constexpr std::size_t kFewestToBegin = 8;

}  // namespace

Result<GpuCatalogue> GpuCatalogue::load(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end; it.increment(failure)) {
    if (it->path().extension() == ".json") files.push_back(it->path());
  }
  if (failure) return Error{ErrorCode::io, fmt::format("{}: {}", folder.string(), failure.message())};
  std::ranges::sort(files);
  GpuCatalogue catalogue;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (const auto added = catalogue.add(text, file.string(), "builtin"); !added) return added.error();
  }
  return catalogue;
}

Result<void> GpuCatalogue::add(std::string_view text, std::string_view where, std::string_view origin) {
  const auto json = ordered_json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return bad(where, "not a JSON object");
  const auto word = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  };
  CatalogueEntry entry;
  entry.origin = origin;
  GpuSpec& spec = entry.spec;
  spec.name = word("name");
  if (spec.name.empty()) return bad(where, "\"name\" is missing");
  if (normalised_gpu_name(spec.name).empty()) return bad(where, "\"name\" has neither letters nor digits");
  spec.display_name = word("display_name").empty() ? spec.name : word("display_name");
  spec.architecture = word("architecture");
  spec.compute_capability = word("compute_capability");
  if (!json.contains("figures") || !json["figures"].is_object()) return bad(where, "\"figures\" is missing");
  const ordered_json sources = json.contains("sources") ? json["sources"] : ordered_json::object();
  for (const auto& [name, value] : json["figures"].items()) {
    const auto figure = read_figure(name, value, sources, where);
    if (!figure) return figure.error();
    entry.figures.push_back(*figure);
  }
  const auto figure = [&](std::string_view name) {
    const auto found = std::ranges::find(entry.figures, name, &Figure::name);
    return found == entry.figures.end() ? 0.0 : found->value;
  };
  for (const std::string_view needed :
       {"sm_count", "boost_clock_hz", "memory_bytes", "memory_bandwidth_bytes_per_s", "l2_bytes"}) {
    if (figure(needed) == 0.0) return bad(where, fmt::format("figures.{} is missing", needed));
  }
  spec.sm_count = static_cast<int>(figure("sm_count"));
  spec.boost_clock = Hertz(figure("boost_clock_hz"));
  spec.memory = Bytes(figure("memory_bytes"));
  spec.memory_bandwidth = BytesPerSecond(figure("memory_bandwidth_bytes_per_s"));
  spec.l2 = Bytes(figure("l2_bytes"));
  spec.l2_bandwidth = BytesPerSecond(figure("l2_bandwidth_bytes_per_s"));
  if (spec.l2_bandwidth.value() == 0.0) {
    spec.l2_bandwidth = BytesPerSecond(kL2BytesPerClockAndSm * spec.sm_count * spec.boost_clock.value());
  }
  spec.nvlink_bandwidth = BytesPerSecond(figure("nvlink_bandwidth_bytes_per_s"));
  spec.pcie_bandwidth = BytesPerSecond(figure("pcie_bandwidth_bytes_per_s"));
  spec.tdp = Watts(figure("tdp_w"));
  bool any = false;
  for (const auto& [name, rate] : kPeaks) {
    spec.peaks[static_cast<std::size_t>(rate)] = FlopsPerSecond(figure(name));
    any = any || figure(name) > 0.0;
  }
  if (!any) return bad(where, "figures hold no arithmetic peak (bfloat16_flops_per_s, ...)");

  if (json.contains("aliases")) {
    if (!json["aliases"].is_array()) return bad(where, "\"aliases\" is not a list of names");
    for (const auto& alias : json["aliases"]) {
      if (!alias.is_string()) return bad(where, "\"aliases\" is not a list of names");
      entry.aliases.push_back(alias.get<std::string>());
    }
  }
  std::vector<std::string> names = entry.aliases;
  names.push_back(spec.name);
  for (const std::string& name : names) {
    const auto taken = by_alias_.find(normalised_gpu_name(name));
    if (taken != by_alias_.end() && taken->second != spec.name) {
      return bad(where, fmt::format("the name '{}' already means {}", name, taken->second));
    }
  }
  std::erase_if(by_alias_, [&](const auto& alias) { return alias.second == spec.name; });  // of the entry replaced
  for (const std::string& name : names) by_alias_.insert_or_assign(normalised_gpu_name(name), spec.name);
  entries_.insert_or_assign(spec.name, std::move(entry));
  return {};
}

const CatalogueEntry* GpuCatalogue::find(std::string_view name) const {
  // People write the maker's name before any of the aliases.
  constexpr std::string_view kMaker = "nvidia";
  std::string wanted = normalised_gpu_name(name);
  auto alias = by_alias_.find(wanted);
  if (alias == by_alias_.end() && wanted.starts_with(kMaker)) alias = by_alias_.find(wanted.erase(0, kMaker.size()));
  return alias == by_alias_.end() ? nullptr : &entries_.find(alias->second)->second;
}

const GpuSpec* GpuCatalogue::spec(std::string_view name) const {
  const CatalogueEntry* entry = find(name);
  return entry == nullptr ? nullptr : &entry->spec;
}

std::vector<const CatalogueEntry*> GpuCatalogue::all() const {
  std::vector<const CatalogueEntry*> out;
  for (const auto& entry : entries_) out.push_back(&entry.second);
  return out;
}

std::vector<std::string> GpuCatalogue::suggestions(std::string_view name) const {
  const std::string wanted = normalised_gpu_name(name);
  // A slice or a share of a GPU: the whole one is the closest that the catalogue has.
  const std::pair<const std::string, std::string>* whole = nullptr;
  for (const auto& known : by_alias_) {
    const bool begins = known.first.size() >= kFewestToBegin && wanted.starts_with(known.first);
    if (begins && (whole == nullptr || known.first.size() > whole->first.size())) whole = &known;
  }
  if (whole != nullptr) return {whole->second};
  std::map<std::string, std::size_t> distances;
  for (const auto& [alias, entry] : by_alias_) {
    const std::size_t distance = edit_distance(wanted, alias);
    if (distance > std::max<std::size_t>(2, wanted.size() / 4)) continue;
    const auto [at, fresh] = distances.emplace(entry, distance);
    if (!fresh) at->second = std::min(at->second, distance);
  }
  std::vector<std::pair<std::size_t, std::string>> sorted;
  for (const auto& [entry, distance] : distances) sorted.emplace_back(distance, entry);
  std::ranges::sort(sorted);
  std::vector<std::string> out;
  for (const auto& [distance, entry] : sorted) {
    if (distance == sorted.front().first && out.size() < 3) out.push_back(entry);
  }
  return out;
}

}  // namespace roofcal
