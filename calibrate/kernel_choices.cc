#include "calibrate/kernel_choices.h"

#include <vector>

namespace roofcal {

void KernelChoices::add(std::span<const Sample> samples, const std::string& kernel) {
  for (const Sample& sample : samples) {
    const auto [found, fresh] = fastest_.try_emplace(sample.shape, sample.time, kernel);
    if (!fresh && sample.time < found->second.first) found->second = {sample.time, kernel};
  }
}

Dispatch KernelChoices::learn() const {
  std::vector<Dispatch::Choice> choices;
  choices.reserve(fastest_.size());
  for (const auto& [shape, choice] : fastest_) choices.push_back({shape, choice.second});
  return Dispatch::learn(choices);
}

}  // namespace roofcal
