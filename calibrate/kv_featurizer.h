// How the featurizers of operators with a key/value cache are made: from the machine, and the bytes of a cached
// element.
#pragma once

#include <memory>

#include "calibrate/featurizer.h"
#include "calibrate/tiles.h"
#include "core/dtype.h"

namespace roofcal {

/// Kind(machine, bytes a cached element). Null where the GPU lacks a figure that the columns divide by.
/// Precondition: `attributes` holds dtype and kv-dtype in canonical spelling.
template <class Kind>
[[nodiscard]] std::unique_ptr<Featurizer> make_kv_featurizer(const GpuSpec& gpu, const Attributes& attributes) {
  const auto dtype_of = [&](std::string_view name) { return find_dtype(attributes.find(name)->second); };
  const auto machine = Machine::of(gpu, dtype_of("dtype")->rate);
  return machine ? std::make_unique<Kind>(*machine, dtype_of("kv-dtype")->weight_bytes) : nullptr;
}

}  // namespace roofcal
