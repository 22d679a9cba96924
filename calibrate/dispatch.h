// Which kernel a framework chose for a shape, learned from the samples of all kernels of one framework version.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/operator.h"
#include "core/result.h"
#include "core/sample.h"

namespace roofcal {

/// A small decision tree over log2 sizes and their powers of two. One kernel: no tree.
class Dispatch {
 public:
  struct Choice {
    Shape shape;
    std::string_view kernel;
  };
  /// Learns from every measured (shape, kernel) of one (gpu, op, attributes, framework, version, cache).
  /// Where one shape was measured with two kernels, pass the faster one.
  [[nodiscard]] static Dispatch learn(std::span<const Choice> choices);

  [[nodiscard]] std::string_view choose(const Shape& shape) const;
  [[nodiscard]] std::span<const std::string> kernels() const { return kernels_; }

  [[nodiscard]] nlohmann::json to_json() const;
  [[nodiscard]] static Result<Dispatch> from_json(const nlohmann::json& json);

 private:
  friend struct DispatchGrower;  // dispatch.cc
  struct Node {
    int feature = -1;        ///< -1: a leaf
    double threshold = 0.0;  ///< go right when feature value > threshold
    int left = 0;
    int right = 0;
    int kernel = 0;
  };
  std::vector<std::string> kernels_;
  std::vector<Node> nodes_;
};

}  // namespace roofcal
