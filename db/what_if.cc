#include "db/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/spelling.h"

namespace roofcal {
namespace {

enum class Dimension { bytes, bytes_per_second, flops_per_second, hertz, watts, count };

struct Parameter {
  WhatIfParameter words;
  std::string_view figure;  // empty: all arithmetic peaks
  Dimension dimension;
};

constexpr std::array<Parameter, 18> kParameters{{
    {{"mem_bw", "memory bandwidth"}, "memory_bandwidth_bytes_per_s", Dimension::bytes_per_second},
    {{"memory", "memory size"}, "memory_bytes", Dimension::bytes},
    {{"l2", "L2 size"}, "l2_bytes", Dimension::bytes},
    {{"l2_bw", "L2 bandwidth"}, "l2_bandwidth_bytes_per_s", Dimension::bytes_per_second},
    {{"sms", "number of SMs; peaks and L2 bandwidth go with it"}, "sm_count", Dimension::count},
    {{"clock", "boost clock; peaks and L2 bandwidth go with it"}, "boost_clock_hz", Dimension::hertz},
    {{"nvlink", "NVLink bandwidth, one direction"}, "nvlink_bandwidth_bytes_per_s", Dimension::bytes_per_second},
    {{"pcie", "PCIe bandwidth, one direction"}, "pcie_bandwidth_bytes_per_s", Dimension::bytes_per_second},
    {{"tdp", "power"}, "tdp_w", Dimension::watts},
    {{"flops", "all arithmetic peaks, by a factor"}, "", Dimension::flops_per_second},
    {{"fp64", "peak"}, "fp64_flops_per_s", Dimension::flops_per_second},
    {{"fp32", "peak"}, "fp32_flops_per_s", Dimension::flops_per_second},
    {{"tf32", "peak"}, "tf32_flops_per_s", Dimension::flops_per_second},
    {{"float16", "dense peak"}, "float16_flops_per_s", Dimension::flops_per_second},
    {{"bfloat16", "dense peak"}, "bfloat16_flops_per_s", Dimension::flops_per_second},
    {{"fp8", "dense peak"}, "fp8_flops_per_s", Dimension::flops_per_second},
    {{"fp4", "dense peak"}, "fp4_flops_per_s", Dimension::flops_per_second},
    {{"int8", "dense peak"}, "int8_ops_per_s", Dimension::flops_per_second},
}};

constexpr double kRounding = 1e-9;

Error usage(std::string message) { return Error{ErrorCode::usage, std::move(message)}; }

bool is_peak(std::string_view figure) { return figure.ends_with("_flops_per_s") || figure.ends_with("_ops_per_s"); }

const Parameter* parameter_named(std::string_view name) {
  const auto found =
      std::ranges::find(kParameters, name, [](const Parameter& parameter) { return parameter.words.name; });
  return found == kParameters.end() ? nullptr : &*found;
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return std::string(text);
}

// The units that a dimension may be written in, with what they are worth.
std::map<std::string, double, std::less<>> units_of(Dimension dimension) {
  constexpr std::array<std::pair<const char*, double>, 6> kDecimal{
      {{"", 1.0}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}}};
  constexpr std::array<std::pair<const char*, double>, 4> kBinary{
      {{"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}}};
  std::map<std::string, double, std::less<>> units{{"", 1.0}};
  const auto add = [&](const char* unit, const auto& prefixes) {
    for (const auto& [prefix, worth] : prefixes) units.emplace(std::string(prefix) + unit, worth);
  };
  switch (dimension) {
    case Dimension::bytes:
      add("B", kDecimal);
      add("B", kBinary);
      break;
    case Dimension::bytes_per_second:
      add("B/s", kDecimal);
      add("B/s", kBinary);
      break;
    case Dimension::flops_per_second:
      for (const char* unit : {"FLOP/s", "FLOPS", "FLOPs", "OP/s", "OPS"}) add(unit, kDecimal);
      break;
    case Dimension::hertz:
      add("Hz", kDecimal);
      break;
    case Dimension::watts:
      add("W", kDecimal);
      break;
    case Dimension::count:
      break;
  }
  return units;
}

// The figures of a base that changes act on, by name.
class Figures {
 public:
  explicit Figures(const CatalogueEntry& base) {
    for (const Figure& figure : base.figures) values_[figure.name] = figure.value;
    // Where a file gives none it is derived, and goes with SMs and clock like one that is given.
    values_.emplace("l2_bandwidth_bytes_per_s", base.spec.l2_bandwidth.value());
  }
  [[nodiscard]] double get(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? 0.0 : found->second;
  }
  void set(std::string_view name, double value) {
    values_[std::string(name)] = value;
    changed_.emplace(name);
  }
  [[nodiscard]] bool changed(std::string_view name) const { return changed_.contains(name); }
  [[nodiscard]] const std::map<std::string, double, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, double, std::less<>> values_;
  std::set<std::string, std::less<>> changed_;
};

Result<void> apply(const FigureChange& change, const Parameter& parameter, const CatalogueEntry& base,
                   Figures& figures) {
  if (parameter.figure.empty()) return {};  // the caller scales all peaks
  const double before = figures.get(parameter.figure);
  if (change.factor && before == 0.0) {
    return usage(fmt::format("{}={}x: {} has no {} to multiply; give a value", change.parameter, change.value,
                             base.spec.name, parameter.words.name));
  }
  double value = change.factor ? before * change.value : change.value;
  if (parameter.dimension == Dimension::count) {
    const double whole = std::round(value);
    if (whole < 1.0 || std::abs(value - whole) > kRounding * value) {
      return usage(fmt::format("{}: {} SMs are no whole number", change.parameter, value));
    }
    value = whole;
  }
  figures.set(parameter.figure, value);
  return {};
}

Result<void> check(const Figures& figures) {
  const auto faster = [&](std::string_view narrow, std::string_view wide) -> Result<void> {
    const double a = figures.get(narrow);
    const double b = figures.get(wide);
    const bool touched = figures.changed(narrow) || figures.changed(wide);
    if (touched && a > 0.0 && b > 0.0 && a < b * (1.0 - kRounding)) {
      return usage(
          fmt::format("{} of {:.4g} would be below {} of {:.4g}: a contradiction, set both", narrow, a, wide, b));
    }
    return {};
  };
  for (const auto& [narrow, wide] :
       {std::pair("fp8_flops_per_s", "bfloat16_flops_per_s"), std::pair("fp4_flops_per_s", "fp8_flops_per_s"),
        std::pair("bfloat16_flops_per_s", "tf32_flops_per_s"),
        std::pair("l2_bandwidth_bytes_per_s", "memory_bandwidth_bytes_per_s"), std::pair("memory_bytes", "l2_bytes")}) {
    if (auto ordered = faster(narrow, wide); !ordered) return ordered.error();
  }
  return {};
}

std::string text_of(const FigureChange& change) {
  return fmt::format("{}={:.6g}{}", change.parameter, change.value, change.factor ? "x" : "");
}

}  // namespace

std::span<const WhatIfParameter> what_if_parameters() {
  static const auto words = [] {
    std::array<WhatIfParameter, kParameters.size()> out;
    std::ranges::transform(kParameters, out.begin(), [](const Parameter& parameter) { return parameter.words; });
    return out;
  }();
  return words;
}

Result<FigureChange> parse_figure_change(std::string_view name, std::string_view quantity) {
  const Parameter* parameter = parameter_named(name);
  if (parameter == nullptr) {
    std::vector<std::string> names;
    for (const Parameter& one : kParameters) names.emplace_back(one.words.name);
    return usage(
        fmt::format("'{}' is nothing that --set knows: {}{}", name, fmt::join(names, ", "), did_you_mean(name, names)));
  }
  const std::string text = trimmed(quantity);
  FigureChange change{std::string(name), 0.0, false};
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), change.value);
  if (failure != std::errc()) return usage(fmt::format("{}='{}' is no number", name, text));
  const std::string unit = trimmed(std::string_view(rest, static_cast<std::size_t>(text.data() + text.size() - rest)));
  if (unit == "x") {
    change.factor = true;
  } else {
    const auto units = units_of(parameter->dimension);
    const auto worth = units.find(unit);
    if (worth == units.end()) {
      std::vector<std::string> known;
      for (const auto& entry : units) {
        if (!entry.first.empty()) known.push_back(entry.first);
      }
      return usage(fmt::format("{}='{}': '{}' is no unit of it; there is x{}{}", name, text, unit,
                               known.empty() ? "" : ", ", fmt::join(known, ", ")));
    }
    change.value *= worth->second;
    if (parameter->figure.empty()) {
      return usage(
          fmt::format("{}='{}': all peaks change by a factor, such as 2x; set one by its format, such as "
                      "bfloat16=2PFLOP/s",
                      name, text));
    }
  }
  if (!(change.value > 0.0) || !std::isfinite(change.value)) {
    return usage(fmt::format("{}='{}' is not greater than zero", name, text));
  }
  return change;
}

Result<std::vector<FigureChange>> parse_figure_changes(std::string_view text) {
  std::vector<FigureChange> out;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string item = trimmed(text.substr(0, comma));
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) {
      return usage(fmt::format("--set '{}' is not like mem_bw=2x or mem_bw=8TB/s", item));
    }
    const auto change = parse_figure_change(trimmed(std::string_view(item).substr(0, equals)),
                                            std::string_view(item).substr(equals + 1));
    if (!change) return change.error();
    if (std::ranges::find(out, change->parameter, &FigureChange::parameter) != out.end()) {
      return usage(fmt::format("--set sets {} twice", change->parameter));
    }
    out.push_back(*change);
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

Result<std::string> what_if_gpu(const CatalogueEntry& base, std::span<const FigureChange> changes,
                                std::string_view name) {
  Figures figures(base);
  const auto all_peaks = std::ranges::find(changes, "flops", &FigureChange::parameter);
  for (const FigureChange& change : changes) {
    const Parameter& parameter = *parameter_named(change.parameter);
    if (all_peaks != changes.end() && is_peak(parameter.figure)) {
      return usage(fmt::format("flops and {} are both set: a contradiction", change.parameter));
    }
    if (std::ranges::count(changes, change.parameter, &FigureChange::parameter) > 1) {
      return usage(fmt::format("{} is set twice", change.parameter));
    }
    if (auto applied = apply(change, parameter, base, figures); !applied) return applied.error();
  }
  // A peak is SMs x clock x what an SM does a clock; so is the L2's bandwidth.
  const double more =
      figures.get("sm_count") / base.spec.sm_count * figures.get("boost_clock_hz") / base.spec.boost_clock.value();
  const double peaks = all_peaks != changes.end() ? all_peaks->value : more;
  const auto before = figures.all();
  for (const auto& [figure, value] : before) {
    if (figures.changed(figure)) continue;
    if (is_peak(figure) && peaks != 1.0) figures.set(figure, value * peaks);
    if (figure == "l2_bandwidth_bytes_per_s" && more != 1.0) figures.set(figure, value * more);
  }
  if (auto possible = check(figures); !possible) return possible.error();

  std::vector<std::string> texts;
  for (const FigureChange& change : changes) texts.push_back(text_of(change));
  nlohmann::ordered_json json;
  json["name"] = name;
  json["display_name"] = fmt::format("{} with {}", base.spec.display_name, fmt::join(texts, ", "));
  json["architecture"] = base.spec.architecture;
  json["compute_capability"] = base.spec.compute_capability;
  for (const Figure& figure : base.figures) {
    auto& out = json["figures"][figure.name];
    out["value"] = figures.get(figure.name);
    if (figures.changed(figure.name)) {
      out["source"] = "what-if";
      out["note"] = fmt::format("{} has {:.6g}", base.spec.name, figure.value);
    } else {
      out["source"] = figure.source;
      if (!figure.note.empty()) out["note"] = figure.note;
    }
  }
  for (const auto& [figure, value] : figures.all()) {
    if (json["figures"].contains(figure)) continue;
    json["figures"][figure] = {{"value", value}, {"source", figures.changed(figure) ? "what-if" : "derived"}};
  }
  return json.dump(2) + "\n";
}

}  // namespace roofcal
