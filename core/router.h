// How the router of a mixture of experts loads the busiest GPU: counts of tokens an expert, drawn as the public
// collectors of MoE timings draw them.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace roofcal {

struct RouterQuestion {
  std::int64_t tokens = 0;
  std::int64_t experts = 0;
  std::int64_t topk = 0;
  std::int64_t ep = 1;     ///< expert-parallel ranks; divides `experts`
  std::int64_t alpha = 0;  ///< exponent of the power law in thousandths; 0: balanced

  friend bool operator==(const RouterQuestion&, const RouterQuestion&) = default;
};

/// Load of the rank that gets the most assignments; means over the draws, so not whole numbers.
struct RouterLoad {
  double assignments = 0.0;     ///< (token, expert) pairs
  double active_experts = 0.0;  ///< experts with at least one token
  double heaviest = 0.0;        ///< tokens of the busiest expert
  /// Row tiles of 16, 64 and 128 tokens over all experts: sum of ceil(tokens / tile).
  double tiles16 = 0.0;
  double tiles64 = 0.0;
  double tiles128 = 0.0;
};

/// Tokens of each expert when every token takes `topk` of `experts` at equal strides: the most even load there is.
[[nodiscard]] std::vector<std::int64_t> balanced_counts(const RouterQuestion& question);

/// Where assignments go that rounding left over, or that an expert could not take. Two generations of the collectors
/// differ, and with few tokens on many ranks so do their times, up to 8-fold.
enum class Leftovers {
  any_rank,   ///< in turn over all experts, smallest counts first: ties lie side by side, on one rank
  each_rank,  ///< in turn over the ranks, there to the smallest count: how a router that knows no ranks spreads them
};

/// Tokens of each expert of one draw: weights by inverse CDF of p(x) ~ x^-alpha on [1, 0.8 tokens] (on [0.01, 2] where
/// there are no more assignments than experts), scaled to tokens x topk, rounded; a token takes an expert once, so
/// counts stop at `tokens`, and what is left over, or was handed out too much, is settled as `leftovers` says. The sum
/// is tokens x topk. `draw` seeds the generator (SplitMix64: Steele, Lea, Flood, OOPSLA 2014); the same everywhere.
[[nodiscard]] std::vector<std::int64_t> power_law_counts(const RouterQuestion& question, std::uint64_t draw,
                                                         Leftovers leftovers);

/// The load of the heaviest of `ep` ranks, each holding a contiguous share of `counts`.
[[nodiscard]] RouterLoad heaviest_rank(std::span<const std::int64_t> counts, std::int64_t ep);

/// Answers questions from five draws, keeping answers: a pure function with a bounded memory. Safe to share by threads.
class RouterSimulator {
 public:
  explicit RouterSimulator(Leftovers leftovers) : leftovers_(leftovers) {}

  /// Domain: all positive but alpha >= 0, topk <= experts, ep divides experts.
  [[nodiscard]] RouterLoad load(const RouterQuestion& question) const;

 private:
  struct Hash {
    std::size_t operator()(const RouterQuestion& question) const;
  };
  Leftovers leftovers_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<RouterQuestion, RouterLoad, Hash> known_;
};

}  // namespace roofcal
