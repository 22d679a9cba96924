#include "microbench/gpu_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "db/json_text.h"

namespace roofcal::microbench {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

// Docker and podman leave a mark; Kubernetes sets a variable. Empty: no sign of a container.
std::string container() {
  std::error_code ignored;  // a file that cannot be looked at is no sign
  if (std::filesystem::exists("/.dockerenv", ignored)) return "docker";
  if (std::filesystem::exists("/run/.containerenv", ignored)) return "podman";
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr) return "kubernetes";
  return {};
}

std::string catalogue_name(std::string_view driver_name) {
  std::string out;
  for (const unsigned char c : driver_name) {
    if (std::isalnum(c) != 0) {
      out.push_back(static_cast<char>(std::tolower(c)));
    } else if (!out.empty() && out.back() != '_') {
      out.push_back('_');
    }
  }
  while (out.ends_with('_')) out.pop_back();
  if (out.starts_with("nvidia_")) out.erase(0, 7);
  return out.empty() ? "unknown_gpu" : out;
}

}  // namespace

Run run_of(const GpuFacts& facts, const std::string& gpu, const RunDescription& description) {
  Run run;
  run.source = "roofcal-microbench";
  run.origin = description.command_line;
  run.gpu = gpu;
  run.started_utc = description.started_utc;
  run.extra = facts.details;
  const auto keep = [&](const char* name, const std::string& value) {
    if (!value.empty()) run.extra[name] = value;
  };
  keep("gpu_name", facts.name);
  keep("gpu_uuid", facts.uuid);
  keep("gpu_index", fmt::format("{}", facts.index));
  keep("compute_capability", fmt::format("{}.{}", facts.compute_major, facts.compute_minor));
  keep("host", host_name());
  keep("container", container());
  keep("clock_mode", std::string(to_string(description.clocks)));
  keep("data_fill", description.data_fill);
  keep("campaign", description.campaign);
  keep("roofcal_version", description.version);
  keep("roofcal_commit", description.commit);
  // The store takes UTF-8 only, and a driver's or host's word may be anything.
  for (auto& [name, value] : run.extra) {
    if (!is_utf8(value)) value = "(not UTF-8)";
  }
  return run;
}

KnownGpu look_up(const GpuFacts& facts, const GpuCatalogue& catalogue) {
  if (const GpuSpec* spec = catalogue.spec(facts.name)) return {*spec, true};
  GpuSpec spec;
  spec.name = catalogue_name(facts.name);
  spec.display_name = facts.name;
  spec.compute_capability = fmt::format("{}.{}", facts.compute_major, facts.compute_minor);
  spec.sm_count = facts.sm_count;
  spec.boost_clock = facts.boost_clock;
  spec.memory = facts.memory;
  spec.memory_bandwidth = facts.memory_bandwidth;
  spec.l2 = facts.l2;
  return {spec, false};
}

std::string draft_catalogue_entry(const GpuFacts& facts) {
  nlohmann::ordered_json json;
  json["name"] = catalogue_name(facts.name);
  json["display_name"] = facts.name;
  json["aliases"] = {facts.name};
  json["compute_capability"] = fmt::format("{}.{}", facts.compute_major, facts.compute_minor);
  json["sources"] = {{"drv", fmt::format("What the driver reports of '{}'", facts.name)}};
  nlohmann::ordered_json& figures = json["figures"] = nlohmann::ordered_json::object();
  nlohmann::ordered_json& missing = json["missing"] = nlohmann::ordered_json::array();
  const auto figure = [&](const char* name, double value) {
    if (value > 0.0) {
      figures[name] = {{"value", value}, {"source", "drv"}};
    } else {
      missing.push_back(name);
    }
  };
  figure("sm_count", facts.sm_count);
  figure("boost_clock_hz", facts.boost_clock.value());
  figure("memory_bytes", facts.memory.value());
  figure("memory_bandwidth_bytes_per_s", facts.memory_bandwidth.value());
  figure("l2_bytes", facts.l2.value());
  for (const char* name :
       {"fp32_flops_per_s", "tf32_flops_per_s", "float16_flops_per_s", "bfloat16_flops_per_s", "fp8_flops_per_s",
        "fp4_flops_per_s", "int8_ops_per_s", "pcie_bandwidth_bytes_per_s", "nvlink_bandwidth_bytes_per_s", "tdp_w"}) {
    missing.push_back(name);
  }
  return json.dump(2) + "\n";
}

}  // namespace roofcal::microbench
