// What changed between two sets of measurements of one kernel class: by how much, how surely, where.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/sample.h"

namespace roofcal {

enum class Verdict { faster, slower, same, undecided };
[[nodiscard]] std::string_view to_string(Verdict verdict);

/// Of t_after / t_before - 1 over shapes that both sides measured.
struct Change {
  std::size_t shapes = 0;
  std::optional<double> median;  ///< none without shapes
  std::optional<double> apart;   ///< median of the absolute change: how far shapes are apart, in whatever direction
  std::optional<double> lo, hi;  ///< 90 % interval of the median; none where there are too few shapes for one
  Verdict verdict = Verdict::undecided;
};

struct SizeChange {
  std::int64_t from = 0, to = 0;  ///< values of the size field
  Change change;
};

struct ShapeChange {
  Shape shape;
  Seconds before{}, after{};

  [[nodiscard]] double change() const { return after / before - 1.0; }
};

struct ClassChange {
  Change overall;
  std::vector<SizeChange> sizes;    ///< ascending, of about equal numbers of shapes; empty where there are few
  std::vector<ShapeChange> shapes;  ///< the one that became slowest first
  std::size_t only_before = 0, only_after = 0;  ///< shapes that the other side lacks
  /// Standard deviation (ln) by which whole runs differ, from shapes that were timed several times in turn; none where
  /// they were not.
  std::optional<double> run_spread;
};

/// One side's samples: a vector a kernel, each in the order in which they were taken. Where several kernels did a
/// shape, the fastest counts, each by the median of its repeats.
using KernelSamples = std::vector<std::vector<Sample>>;

/// `size_field`: the field along which changes are told apart. `margin` (a fraction): differences below it are called
/// the same. The interval of the median is distribution-free (the sign test's, Conover, Practical Nonparametric
/// Statistics, 3.2: between order statistics), widened by run_spread: what all shapes of a run have in common does not
/// average out. The verdict is `slower` where it lies above the margin, `faster` below, `same` within, else
/// `undecided`.
[[nodiscard]] ClassChange class_change(const KernelSamples& before, const KernelSamples& after, std::size_t size_field,
                                       double margin);

}  // namespace roofcal
