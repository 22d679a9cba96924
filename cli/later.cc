// Verbs of the contract that a later step brings.
#include <fmt/format.h>

#include <string>

#include "cli/verbs.h"

namespace roofcal::cli {
namespace {

void add_later(const Registry& registry, const std::string& name, const std::string& description,
               const std::string& example) {
  CLI::App& verb = add_verb(registry, name, description + " (comes in a later step)", "  " + example);
  verb.allow_extras();
  Action& action = registry.action;
  const std::string parent = registry.parent.get_parent() == nullptr ? "" : registry.parent.get_name() + " ";
  verb.callback([&action, name, parent] {
    action = [name, parent](Session& /*session*/) -> Result<int> {
      return Error{ErrorCode::usage, fmt::format("`roofcal {}{}` comes in a later step", parent, name)};
    };
  });
}

}  // namespace

void add_later_verbs(const Registry& registry) {
  add_later(registry, "search", "the Pareto front of deployments, best first",
            "roofcal search Qwen/Qwen3-32B --gpu h200_sxm --gpus 8 --isl 4000 --osl 1000 --ttft 1s --tpot 30ms");
  add_later(registry, "compare", "GPUs side by side",
            "roofcal compare gemm --m 4096 --n 8192 --k 8192 --gpu h100_sxm,b200_sxm");
  add_later(registry, "sweep", "the answer as a hardware parameter changes",
            "roofcal sweep gemm --gpu h200_sxm --m 16 --n 8192 --k 8192 --set mem_bw=1x:3x:0.25x");
  add_later(registry, "measure", "run the microbenchmarks", "roofcal measure --suite quick --minutes 10");
  add_later(registry, "report", "one self-contained HTML file",
            "roofcal report -o report.html --gpu h100_sxm,b200_sxm");
}

void add_later_predictions(const Registry& predict) {
  add_later(predict, "serving", "latency and throughput of a deployment",
            "roofcal predict serving Qwen/Qwen3-32B --gpu h200_sxm --isl 4000 --osl 1000 --concurrency 64");
}

}  // namespace roofcal::cli
