// Every measured shape with the kernel that was chosen for it: what a Dispatch is learned from.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>

#include "calibrate/dispatch.h"
#include "core/sample.h"

namespace roofcal {

/// Of one (gpu, op, attributes, framework, version, cache). Where a shape was measured with two kernels, the faster one
/// counts; of equally fast ones, the first added.
class KernelChoices {
 public:
  void add(std::span<const Sample> samples, const std::string& kernel);
  [[nodiscard]] Dispatch learn() const;

 private:
  std::map<Shape, std::pair<Seconds, std::string>> fastest_;
};

}  // namespace roofcal
