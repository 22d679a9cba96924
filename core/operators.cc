// The list of operators. Adding one: its own file beside this one, and a line here.
#include <algorithm>
#include <array>

#include "core/gemm.h"
#include "core/operator.h"

namespace roofcal {

std::span<const Operator* const> all_operators() {
  static const std::array<const Operator*, 1> operators{&gemm_operator()};
  return operators;
}

const Operator* find_operator(std::string_view name) {
  const auto found = std::ranges::find(all_operators(), name, [](const Operator* op) { return op->name(); });
  return found == all_operators().end() ? nullptr : *found;
}

}  // namespace roofcal
