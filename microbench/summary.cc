#include "microbench/summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "microbench/time_left.h"

namespace roofcal::microbench {

std::string summary_text(const CampaignSummary& s) {
  std::string out =
      fmt::format("{} ({}): {} measured, {} wrong, {} skipped, {} already there, {} not reached, in {}\n", s.gpu_name,
                  s.gpu, s.measured, s.wrong, s.skipped, s.already_done, s.not_reached, duration_text(s.took));
  if (s.throttled > 0) out += fmt::format("  throttled: {} samples, kept and left out of fits\n", s.throttled);
  for (const auto& [reason, count] : s.skip_reasons) out += fmt::format("  skipped: {} x {}\n", count, reason);
  for (const std::string& wrong : s.wrong_cases) out += fmt::format("  wrong: {}\n", wrong);
  if (s.worst_drift) out += fmt::format("  drift of the sentinel: {:.2f} % at most\n", 100.0 * *s.worst_drift);
  if (!s.ceilings.empty()) out += "  highest rates reached:\n";
  for (const auto& ceiling : s.ceilings) {
    const bool flops = ceiling.best.op == "gemm";
    out += fmt::format("    {:<18} {:.4g} {}", ceiling.what, ceiling.rate * 1e-12, flops ? "TFLOP/s" : "TB/s");
    if (ceiling.datasheet > 0.0)
      out += fmt::format(", {:.0f} % of the datasheet's", 100.0 * ceiling.rate / ceiling.datasheet);
    out += "\n";
  }
  if (s.not_reached > 0) out += "  the minutes ended first: --resume goes on with what is missing\n";
  return out;
}

nlohmann::ordered_json summary_json(const CampaignSummary& s) {
  nlohmann::ordered_json out{{"gpu", s.gpu},
                             {"gpu_name", s.gpu_name},
                             {"measured", s.measured},
                             {"wrong", s.wrong},
                             {"skipped", s.skipped},
                             {"already_done", s.already_done},
                             {"not_reached", s.not_reached},
                             {"throttled", s.throttled},
                             {"skip_reasons", s.skip_reasons},
                             {"wrong_cases", s.wrong_cases},
                             {"took_s", s.took.value()}};
  out["worst_drift"] = s.worst_drift ? nlohmann::ordered_json(*s.worst_drift) : nlohmann::ordered_json();
  auto& ceilings = out["ceilings"] = nlohmann::ordered_json::array();
  for (const auto& ceiling : s.ceilings) {
    ceilings.push_back({{"what", ceiling.what},
                        {"rate", ceiling.rate},
                        {"unit", ceiling.best.op == "gemm" ? "flops_per_s" : "bytes_per_s"},
                        {"datasheet", ceiling.datasheet > 0.0 ? nlohmann::ordered_json(ceiling.datasheet)
                                                              : nlohmann::ordered_json()}});
  }
  return out;
}

}  // namespace roofcal::microbench
