// Which shapes to measure or fit: a random sample that prefers what lies far from the points it already has.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "calibrate/design.h"
#include "calibrate/fit.h"
#include "calibrate/point_set.h"
#include "calibrate/random.h"
#include "calibrate/selection.h"
#include "core/roofline.h"

namespace roofcal {
namespace {

// What a timed call costs beside its own time, for `cheap`.
constexpr double kCostOfACall = 5e-6;

// Standardised coordinates of the pool: the featurizer's features for spreading, else the sizes.
Matrix coordinates(const ClassKey& key, const GpuSpec& gpu, const Operator& op, std::span<const Sample> pool) {
  Matrix all;
  const auto featurizer = make_featurizer(op, gpu, key.attributes);
  if (featurizer == nullptr) {
    all.resize(static_cast<Eigen::Index>(pool.size()), static_cast<Eigen::Index>(op.fields().size()));
    for (Eigen::Index row = 0; row < all.rows(); ++row) {
      for (Eigen::Index field = 0; field < all.cols(); ++field) {
        const auto at = static_cast<std::size_t>(field);
        all(row, field) = shape_coordinate(op.fields()[at], pool[static_cast<std::size_t>(row)].shape[at]);
      }
    }
  } else {
    all = make_design(*featurizer, pool).features;
    const auto names = featurizer->feature_names();
    std::vector<Eigen::Index> columns;
    for (const std::string_view wanted : featurizer->hints().spread) {
      const auto found = std::ranges::find(names, wanted);
      if (found != names.end()) columns.push_back(found - names.begin());
    }
    if (!columns.empty()) all = Matrix(all(Eigen::all, columns));
  }
  all.rowwise() -= all.colwise().mean();
  const Eigen::RowVectorXd deviation =
      (all.colwise().squaredNorm() / static_cast<double>(all.rows())).cwiseSqrt().array() + 1e-6;
  // Rounded, so that a last-bit difference between machines cannot change the choice.
  return ((all.array().rowwise() / deviation.array()) * 4096.0).round() / 4096.0;
}

// The chance of each pool point to be taken first, or next where it is far: what it costs to time.
Vector preferences(const ClassKey& key, const GpuSpec& gpu, const Operator& op, std::span<const Sample> pool,
                   Selection selection) {
  Vector preference = Vector::Ones(static_cast<Eigen::Index>(pool.size()));
  if (selection != Selection::cheap) return preference;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const double bound = roofline(gpu, op.work(key.attributes, pool[i].shape), key.cache).time.value();
    preference[static_cast<Eigen::Index>(i)] = 1.0 / std::sqrt(bound + kCostOfACall);
  }
  return preference;
}

// An index drawn in proportion to its chance.
std::size_t draw(const Vector& chances, Random& random) {
  double left = random.uniform() * chances.sum();
  Eigen::Index last = 0;
  for (Eigen::Index i = 0; i < chances.size(); ++i) {
    if (chances[i] <= 0.0) continue;
    last = i;
    left -= chances[i];
    if (left < 0.0) break;
  }
  return static_cast<std::size_t>(last);
}

constexpr double kLeastShare = 0.2;

// For shapes of one field: the ends and what lies closest to an even spacing of `along` between them. Nothing is left
// to chance: with few points on a curve, a gap costs more than any draw can gain.
std::vector<std::size_t> evenly_spaced(const Vector& along, std::size_t count) {
  const std::vector<double> place(along.begin(), along.end());
  const auto [low, high] = std::ranges::minmax(place);
  std::vector<std::size_t> left(place.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::vector<std::size_t> selected;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1);
    const double wanted = low + share * (high - low);
    const auto closest =
        std::ranges::min_element(left, {}, [&](std::size_t at) { return std::abs(place[at] - wanted); });
    selected.push_back(*closest);
    left.erase(closest);
  }
  std::ranges::sort(selected);
  return selected;
}

}  // namespace

std::vector<double> represented(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> pool,
                                std::span<const std::size_t> selected) {
  const Operator* op = find_operator(key.op);
  std::vector<double> counts(selected.size(), 1.0);
  if (op == nullptr || selected.size() == pool.size()) return counts;
  const Matrix place = coordinates(key, gpu, *op, pool);
  const std::vector<Eigen::Index> rows(selected.begin(), selected.end());
  const Matrix chosen = place(rows, Eigen::all);
  const Vector half_norms = 0.5 * chosen.rowwise().squaredNorm();
  std::ranges::fill(counts, 0.0);
  constexpr Eigen::Index kAtOnce = 256;
  for (Eigen::Index begin = 0; begin < place.rows(); begin += kAtOnce) {
    const Eigen::Index count = std::min(kAtOnce, place.rows() - begin);
    // The nearest has the largest dot product less half its norm.
    Matrix closeness = place.middleRows(begin, count) * chosen.transpose();
    closeness.rowwise() -= half_norms.transpose();
    for (Eigen::Index row = 0; row < count; ++row) {
      Eigen::Index nearest = 0;
      closeness.row(row).maxCoeff(&nearest);
      counts[static_cast<std::size_t>(nearest)] += 1.0;
    }
  }
  const double least = kLeastShare * static_cast<double>(pool.size()) / static_cast<double>(selected.size());
  std::ranges::transform(counts, counts.begin(), [least](double count) { return std::max(count, least); });
  return counts;
}

std::vector<std::size_t> select_points(const ClassKey& key, const GpuSpec& gpu, std::span<const Sample> pool,
                                       std::size_t count, Selection selection, std::uint64_t seed) {
  std::vector<std::size_t> selected(pool.size());
  std::iota(selected.begin(), selected.end(), std::size_t{0});
  if (count >= pool.size()) return selected;
  Random random(seed);
  const Operator* op = find_operator(key.op);
  if (selection == Selection::random || op == nullptr) {
    random.shuffle(selected);
    selected.resize(count);
    std::ranges::sort(selected);
    return selected;
  }
  if (op->fields().size() == 1) return evenly_spaced(coordinates(key, gpu, *op, pool).col(0), count);
  // As k-means++ seeds its clusters (Arthur and Vassilvitskii, SODA 2007), with the cube of the distance to the nearest
  // point taken so far: better spread than a random sample, yet not confined to the rim as farthest-first is.
  const Matrix place = coordinates(key, gpu, *op, pool);
  const Vector preference = preferences(key, gpu, *op, pool, selection);
  Vector squared = Vector::Constant(preference.size(), std::numeric_limits<double>::infinity());
  Vector chances = preference;
  selected.clear();
  while (selected.size() < count) {
    const std::size_t next = draw(chances, random);
    const auto at = static_cast<Eigen::Index>(next);
    if (std::ranges::find(selected, next) != selected.end()) break;  // what is left lies on points already taken
    selected.push_back(next);
    const Eigen::RowVectorXd here = place.row(at);
    squared = squared.cwiseMin((place.rowwise() - here).rowwise().squaredNorm());
    squared[at] = 0.0;
    chances = squared.array() * squared.array().sqrt() * preference.array();
  }
  std::vector<bool> taken(pool.size(), false);
  for (const std::size_t index : selected) {
    taken[index] = true;
  }
  for (std::size_t i = 0; i < pool.size() && selected.size() < count; ++i) {
    if (!taken[i]) selected.push_back(i);
  }
  std::ranges::sort(selected);
  return selected;
}

}  // namespace roofcal
