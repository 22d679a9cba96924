// The list of operators. Adding one: its own file beside this one, and a line here.
#include <algorithm>
#include <array>

#include "core/attention.h"
#include "core/collective.h"
#include "core/gemm.h"
#include "core/memory.h"
#include "core/mla.h"
#include "core/moe.h"
#include "core/operator.h"

namespace roofcal {

std::span<const Operator* const> all_operators() {
  static const std::array<const Operator*, 8> operators{&gemm_operator(),
                                                        &context_attention_operator(),
                                                        &generation_attention_operator(),
                                                        &context_mla_operator(),
                                                        &generation_mla_operator(),
                                                        &moe_operator(),
                                                        &collective_operator(),
                                                        &memory_operator()};
  return operators;
}

const Operator* find_operator(std::string_view name) {
  const auto found = std::ranges::find(all_operators(), name, [](const Operator* op) { return op->name(); });
  return found == all_operators().end() ? nullptr : *found;
}

}  // namespace roofcal
