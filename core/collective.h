// Collective communication between the GPUs of one group.
#pragma once

#include <string_view>

#include "core/operator.h"

namespace roofcal {

/// Sizes follow nccl-tests (doc/PERFORMANCE.md): the whole array of an all-gather or reduce-scatter, one rank's buffer
/// otherwise. Link bytes of one GPU in one direction, m bytes on n ranks: all-gather, reduce-scatter and all-to-all
/// (n-1)/n m, send/recv m, all-reduce the lesser of a ring's 2 (n-1)/n m and of reduction inside the switch (NVLink
/// SHARP), which sends m and receives its share m/n of the sums, then the reverse: (1 + 1/n) m. The attributes hold
/// the rank count as digits and the topology as one lower-case word ("node": one node).
[[nodiscard]] const Operator& collective_operator();

/// Bytes through a GPU's link of the ring or pairwise algorithm, as a multiple of the size: the bus factor of
/// nccl-tests. `collective` in canonical spelling, ranks >= 2.
[[nodiscard]] double bus_factor(std::string_view collective, double ranks);

/// The rank count of a collective's attributes.
[[nodiscard]] int ranks_of(const Attributes& attributes);

}  // namespace roofcal
