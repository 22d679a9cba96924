#include "microbench/resume.h"

#include "db/sha256.h"

namespace roofcal::microbench {

std::string campaign_id(const GpuFacts& facts, ClockMode clocks, std::string_view data_fill) {
  Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.add(text);
    hash.add(std::string_view("\0", 1));
  };
  add(facts.uuid);
  for (const char* name : {"driver", "cuda_runtime", "cublaslt"}) {
    const auto found = facts.details.find(name);
    add(found == facts.details.end() ? std::string_view() : std::string_view(found->second));
  }
  add(to_string(clocks));
  add(data_fill);
  return hex(bytes_of(hash.finish())).substr(0, 16);
}

Result<std::set<std::string>> done_cases(const Store& store, const std::string& gpu, const std::string& campaign) {
  std::set<std::string> out;
  ClassFilter filter;
  filter.gpu = gpu;
  const auto read = store.for_each(filter, [&](const Run& run, const StoredSample& sample) -> Result<void> {
    const auto of = run.extra.find("campaign");
    if (run.source != "roofcal-microbench" || of == run.extra.end() || of->second != campaign) return {};
    // A check that passed comes before its time: only a failed one settles a case.
    if (sample.kind == kCheckKind && sample.flags.find("failed") == std::string::npos) return {};
    if (const auto id = sample.extra.find("case"); id != sample.extra.end()) out.insert(id->second);
    return {};
  });
  if (!read) return read.error();
  return out;
}

}  // namespace roofcal::microbench
