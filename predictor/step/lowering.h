// How the parts of a layer write down their operators: shared by the files that lower attention, feed-forward layers
// and what surrounds them.
#pragma once

#include <string>
#include <vector>

#include "predictor/step/lower.h"

namespace roofcal::lowering {

inline double real(std::int64_t value) { return static_cast<double>(value); }

/// Collects the operators of one part of a model.
class Writer {
 public:
  Writer(const models::ModelDescription& of, const Parallelism& over, const LowerOptions& with)
      : model(of), spread(over), options(with) {}

  const models::ModelDescription& model;
  const Parallelism& spread;
  const LowerOptions& options;
  std::vector<LoweredOperator> out;

  /// A product with n x k weights of a part's format.
  void gemm(std::string name, models::Part part, Rows rows, std::int64_t n, std::int64_t k);
  /// Bytes at 16 bits an element.
  void memory(std::string name, Rows rows, double elements_read, double elements_written);
  /// Nothing among fewer than two ranks. `elements`: 16-bit values of a row.
  void collective(std::string name, std::string_view kind, std::int64_t ranks, Rows rows, double bytes_per_row);
  void bound(std::string name, std::string op, const BoundSizes& sizes, double weights = 0.0);
  void add(LoweredOperator lowered) { out.push_back(std::move(lowered)); }
};

void lower_mixer(Writer& writer, const models::Layer& layer);
void lower_ffn(Writer& writer, const models::Layer& layer);

}  // namespace roofcal::lowering
