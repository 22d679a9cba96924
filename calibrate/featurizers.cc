#include "calibrate/featurizers.h"

#include <algorithm>
#include <array>

namespace roofcal {
namespace {

struct Entry {
  std::string_view op;
  std::unique_ptr<Featurizer> (*make)(const GpuSpec&, const Attributes&);
};

constexpr std::array kEntries{
    Entry{"gemm", &make_gemm_featurizer},
    Entry{"context_attention", &make_context_attention_featurizer},
    Entry{"generation_attention", &make_generation_attention_featurizer},
    Entry{"context_mla", &make_context_mla_featurizer},
    Entry{"generation_mla", &make_generation_mla_featurizer},
    Entry{"moe", &make_moe_featurizer},
    Entry{"collective", &make_collective_featurizer},
    Entry{"memory", &make_memory_featurizer},
};

}  // namespace

std::unique_ptr<Featurizer> make_featurizer(const Operator& op, const GpuSpec& gpu, const Attributes& attributes) {
  const auto* const entry = std::ranges::find(kEntries, op.name(), &Entry::op);
  return entry == kEntries.end() ? nullptr : entry->make(gpu, attributes);
}

}  // namespace roofcal
