#include "core/router.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace roofcal {
namespace {

constexpr int kDraws = 5;
constexpr std::size_t kMostKnown = std::size_t{1} << 16;  // about 6 MB

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  /// Uniform in [0, 1): the upper 53 bits.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Weights drawn from p(x) ~ x^-alpha on [low, high] by inverting its distribution function.
std::vector<double> power_law_weights(std::size_t count, double alpha, double low, double high, SplitMix64& random) {
  std::vector<double> weights(count);
  const double power = 1.0 - alpha;
  if (power == 0.0) {  // p(x) ~ 1/x
    std::ranges::generate(weights, [&] { return low * std::pow(high / low, random.uniform()); });
    return weights;
  }
  const double at_low = std::pow(low, power);
  const double at_high = std::pow(high, power);
  std::ranges::generate(weights, [&] { return std::pow((at_high - at_low) * random.uniform() + at_low, 1.0 / power); });
  return weights;
}

// Experts, smallest count first; equal counts by index, so that the order is the same everywhere.
std::vector<std::size_t> ascending(const std::vector<std::int64_t>& counts) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&counts](std::size_t i) { return counts[i]; });
  return order;
}

// Hands out `spare` assignments one at a time in turn, smallest counts first, to experts below `limit`. Whole rounds
// are handed out at once. Precondition: there is room for all of them.
void add_in_turn(std::vector<std::int64_t>& counts, std::int64_t spare, std::int64_t limit) {
  std::vector<std::size_t> open = ascending(counts);
  while (spare > 0) {
    std::erase_if(open, [&](std::size_t i) { return counts[i] >= limit; });
    if (open.empty()) {
      return;
    }
    const auto takers = static_cast<std::int64_t>(open.size());
    // `open` stays in ascending order of count, since all of them grow alike: the last one fills up first.
    const std::int64_t rounds = std::min(spare / takers, limit - counts[open.back()]);
    const std::int64_t once = rounds > 0 ? takers : spare;
    const std::int64_t step = std::max<std::int64_t>(rounds, 1);
    for (std::int64_t i = 0; i < once; ++i) {
      counts[open[static_cast<std::size_t>(i)]] += step;
    }
    spare -= once * step;
  }
}

// Takes `excess` assignments back, one from each expert in turn, smallest counts first; where one has none, from the
// heaviest.
void remove_in_turn(std::vector<std::int64_t>& counts, std::int64_t excess) {
  std::int64_t from_heaviest = 0;
  while (excess > 0) {
    for (const std::size_t i : ascending(counts)) {
      if (excess == 0) {
        break;
      }
      --excess;
      if (counts[i] > 0) {
        --counts[i];
      } else {
        ++from_heaviest;
      }
    }
  }
  if (from_heaviest == 0) {
    return;
  }
  std::priority_queue<std::pair<std::int64_t, std::size_t>> heaviest;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    heaviest.emplace(counts[i], i);
  }
  for (; from_heaviest > 0; --from_heaviest) {
    const std::size_t i = heaviest.top().second;
    heaviest.pop();
    heaviest.emplace(--counts[i], i);
  }
}

// Raises the smallest of `counts`, one at a time, until `amount` is spent. Linear after the sort: each level is filled
// at once.
void raise_smallest(std::span<std::int64_t> counts, std::int64_t amount) {
  std::ranges::sort(counts);
  std::size_t raised = 1;  // the first `raised` counts stand at one level
  while (amount > 0) {
    while (raised < counts.size() && counts[raised] == counts[0]) {
      ++raised;
    }
    const auto width = static_cast<std::int64_t>(raised);
    const std::int64_t gap = raised < counts.size() ? counts[raised] - counts[0] : amount;
    const std::int64_t levels = std::min(gap, amount / width);
    const std::int64_t partial = levels == gap ? 0 : amount - levels * width;  // fewer than `width`: the last level
    for (std::size_t i = 0; i < raised; ++i) {
      counts[i] += levels + (static_cast<std::int64_t>(i) < partial ? 1 : 0);
    }
    amount -= levels * width + partial;
  }
}

// Splits `amount` over ranks in turn, as far as each has room.
std::vector<std::int64_t> split_in_turn(std::int64_t amount, const std::vector<std::int64_t>& room) {
  std::vector<std::int64_t> parts(room.size(), 0);
  while (amount > 0) {
    std::int64_t takers = 0;
    for (std::size_t rank = 0; rank < room.size(); ++rank) {
      takers += parts[rank] < room[rank] ? 1 : 0;
    }
    if (takers == 0) {
      break;
    }
    const std::int64_t each = std::max<std::int64_t>(amount / takers, 1);
    for (std::size_t rank = 0; rank < room.size() && amount > 0; ++rank) {
      const std::int64_t part = std::min({each, room[rank] - parts[rank], amount});
      parts[rank] += part;
      amount -= part;
    }
  }
  return parts;
}

// Adds `delta` assignments (takes them back when negative) rank by rank. The order of experts within a rank is not
// kept: no load depends on it.
void settle_on_each_rank(std::vector<std::int64_t>& counts, std::int64_t delta, std::int64_t limit, std::int64_t ep) {
  const std::size_t share = counts.size() / static_cast<std::size_t>(ep);
  std::vector<std::int64_t> room;
  for (std::size_t first = 0; first < counts.size(); first += share) {
    const auto rank = std::span(counts).subspan(first, share);
    const std::int64_t held = std::accumulate(rank.begin(), rank.end(), std::int64_t{0});
    room.push_back(delta > 0 ? static_cast<std::int64_t>(share) * limit - held : held);
  }
  const std::vector<std::int64_t> parts = split_in_turn(std::abs(delta), room);
  const auto negate = [](std::span<std::int64_t> rank) { std::ranges::transform(rank, rank.begin(), std::negate<>()); };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto rank = std::span(counts).subspan(i * share, share);
    if (delta > 0) {
      raise_smallest(rank, parts[i]);
    } else {  // lowering the largest is raising the smallest of the negatives
      negate(rank);
      raise_smallest(rank, parts[i]);
      negate(rank);
    }
  }
}

}  // namespace

std::vector<std::int64_t> balanced_counts(const RouterQuestion& question) {
  const auto experts = static_cast<std::size_t>(question.experts);
  std::vector<std::int64_t> counts(experts, 0);
  const std::int64_t stride = ceil_div(question.experts, question.topk);
  if (question.tokens < stride) {  // fewer tokens than a stride has room for: spread them over it
    for (std::int64_t token = 0; token < question.tokens; ++token) {
      for (std::int64_t choice = 0; choice < question.topk; ++choice) {
        const std::int64_t expert = token * stride / question.tokens + choice * stride;
        ++counts[static_cast<std::size_t>(expert % question.experts)];
      }
    }
    return counts;
  }
  // Choice c of tokens 0, 1, ... visits experts c stride, c stride + 1, ...: whole turns, then a run.
  std::vector<std::int64_t> change(experts + 1, 0);
  const std::int64_t turns = question.tokens / question.experts;
  const std::int64_t rest = question.tokens % question.experts;
  for (std::int64_t choice = 0; choice < question.topk; ++choice) {
    const std::int64_t first = choice * stride % question.experts;
    const std::int64_t end = first + rest;
    ++change[static_cast<std::size_t>(first)];
    if (end <= question.experts) {
      --change[static_cast<std::size_t>(end)];
    } else {  // wraps around
      --change[experts];
      ++change[0];
      --change[static_cast<std::size_t>(end - question.experts)];
    }
  }
  std::int64_t running = turns * question.topk;
  for (std::size_t i = 0; i < experts; ++i) {
    running += change[i];
    counts[i] = running;
  }
  return counts;
}

std::vector<std::int64_t> power_law_counts(const RouterQuestion& question, std::uint64_t draw, Leftovers leftovers) {
  const std::int64_t total = question.tokens * question.topk;
  const bool dense = total > question.experts;
  SplitMix64 random(draw);
  const std::vector<double> weights =
      power_law_weights(static_cast<std::size_t>(question.experts), static_cast<double>(question.alpha) / 1000.0,
                        dense ? 1.0 : 0.01, dense ? 0.8 * static_cast<double>(question.tokens) : 2.0, random);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> counts;
  counts.reserve(weights.size());
  std::int64_t handed_out = 0;
  for (const double weight : weights) {
    const double share = std::nearbyint(weight / sum * static_cast<double>(total));
    counts.push_back(std::min(static_cast<std::int64_t>(share), question.tokens));
    handed_out += counts.back();
  }
  if (leftovers == Leftovers::each_rank) {
    settle_on_each_rank(counts, total - handed_out, question.tokens, question.ep);
  } else if (handed_out < total) {
    add_in_turn(counts, total - handed_out, question.tokens);
  } else {
    remove_in_turn(counts, handed_out - total);
  }
  return counts;
}

RouterLoad heaviest_rank(std::span<const std::int64_t> counts, std::int64_t ep) {
  const std::size_t share = counts.size() / static_cast<std::size_t>(ep);
  std::size_t first = 0;
  std::int64_t most = -1;
  for (std::size_t start = 0; start + share <= counts.size(); start += share) {
    const auto rank = counts.subspan(start, share);
    const std::int64_t sum = std::accumulate(rank.begin(), rank.end(), std::int64_t{0});
    if (sum > most) {
      most = sum;
      first = start;
    }
  }
  RouterLoad load;
  for (const std::int64_t count : counts.subspan(first, share)) {
    load.assignments += static_cast<double>(count);
    load.active_experts += count > 0 ? 1.0 : 0.0;
    load.heaviest = std::max(load.heaviest, static_cast<double>(count));
    load.tiles16 += static_cast<double>(ceil_div(count, 16));
    load.tiles64 += static_cast<double>(ceil_div(count, 64));
    load.tiles128 += static_cast<double>(ceil_div(count, 128));
  }
  return load;
}

std::size_t RouterSimulator::Hash::operator()(const RouterQuestion& question) const {
  std::uint64_t hash = 0;
  for (const std::int64_t part : {question.tokens, question.experts, question.topk, question.ep, question.alpha}) {
    hash = SplitMix64(hash ^ static_cast<std::uint64_t>(part)).next();
  }
  return static_cast<std::size_t>(hash);
}

RouterLoad RouterSimulator::load(const RouterQuestion& question) const {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(question); found != known_.end()) {
      return found->second;
    }
  }
  RouterLoad load;
  if (question.alpha == 0) {
    load = heaviest_rank(balanced_counts(question), question.ep);
  } else {
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      const RouterLoad one = heaviest_rank(power_law_counts(question, draw, leftovers_), question.ep);
      load.assignments += one.assignments / kDraws;
      load.active_experts += one.active_experts / kDraws;
      load.heaviest += one.heaviest / kDraws;
      load.tiles16 += one.tiles16 / kDraws;
      load.tiles64 += one.tiles64 / kDraws;
      load.tiles128 += one.tiles128 / kDraws;
    }
  }
  const std::scoped_lock lock(mutex_);
  if (known_.size() >= kMostKnown) {
    known_.clear();
  }
  known_.emplace(question, load);
  return load;
}

}  // namespace roofcal
