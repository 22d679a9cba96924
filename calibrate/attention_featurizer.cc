// Attention: prefill by tiles of queries against causal or windowed keys, decode by blocks of the key/value cache split
// over SMs.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "calibrate/featurizers.h"
#include "calibrate/kv_featurizer.h"
#include "calibrate/tiles.h"
#include "core/attention.h"

namespace roofcal {
namespace {

// The sizes of a call as the formulas name them.
struct Sizes {
  explicit Sizes(const Shape& shape)
      : B(static_cast<double>(shape[0])),
        S(static_cast<double>(shape[1])),
        H(static_cast<double>(shape[2])),
        K(static_cast<double>(shape[3])),
        D(static_cast<double>(shape[4])),
        window(static_cast<double>(shape[5])),
        g(H / K) {}

  double B, S, H, K, D, window, g;
};

class ContextFeaturizer final : public Featurizer {
 public:
  ContextFeaturizer(const Machine& machine, double kv_bytes) : gpu_(machine), kv_bytes_(kv_bytes) {}

  [[nodiscard]] std::span<const std::string_view> column_names() const override { return kColumns; }
  [[nodiscard]] std::span<const std::string_view> feature_names() const override { return kFeatures; }

  [[nodiscard]] FitHints hints() const override {
    FitHints hints;
    for (const std::string_view name : kSmooth) {
      hints.smooth.push_back({name, std::log(1.5)});
    }
    hints.size_field = 1;
    // Of docs/accuracy.md; nothing below 0.02 is believed.
    hints.beyond = {{"batch", 0.03, 0.02},    {"seq", 0.06, 0.05},      {"heads", 0.03, 0.02},
                    {"kv-heads", 0.05, 0.03}, {"head-dim", 0.35, 0.20}, {"window", FitHints::kUnmeasuredBeyond, 0.02}};
    return hints;
  }

  void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const override {
    const Sizes s(shape);
    const auto prefix = static_cast<double>(shape[6]);
    // A window that hides nothing is none.
    const double window = s.window > 0.0 && s.window < s.S + prefix ? s.window : 0.0;
    const double keys = causal_pairs(s.S, prefix, window) / s.S;  // that a query sees on average
    const double sequence_heads = s.B * s.H;

    const double flops = 4.0 * sequence_heads * s.D * keys * s.S / gpu_.peak;
    const double moved = s.B * (s.S * (4.0 * s.H * s.D + 4.0 * s.K * s.D + 2.0 * kv_bytes_ * s.K * s.D) +
                                visible_prefix(prefix, window) * 2.0 * kv_bytes_ * s.K * s.D);
    const double memory = moved / gpu_.bandwidth;
    const double padded64 = padded(64.0, s, prefix, window);
    const double padded128 = padded(128.0, s, prefix, window);
    // The last block of queries sees most keys: nothing finishes before it.
    const double last_block = std::min(ceil_ratio(s.S + prefix, 128.0), window > 0.0 ? ceil_ratio(window, 128.0) + 1.0
                                                                                     : ceil_ratio(s.S + prefix, 128.0));
    const double critical = 4.0 * s.D * 128.0 * 128.0 * last_block / gpu_.sm_peak();
    const double blocks = sequence_heads * ceil_ratio(s.S, 128.0);
    const double windowed = window > 0.0 ? 1.0 : 0.0;
    const double wide = s.D > 128.0 ? 1.0 : 0.0;  // heads for which kernels take smaller tiles
    const double wave64 = wave(64.0, s, keys);
    const double wave128 = wave(128.0, s, keys);
    // Some kernels pack the query heads of a group into the rows of a tile.
    const double packed_blocks = s.B * s.K * ceil_ratio(s.S * s.g, 128.0);
    const double packed_block = 4.0 * s.D * 128.0 * (keys + 64.0 + 64.0 / s.g) / gpu_.sm_peak();
    const double packed_padded = packed_blocks / gpu_.sms * packed_block;
    const double packed_wave = ceil_ratio(packed_blocks, gpu_.sms) * packed_block;
    const double held_half = held_in_l2(moved, gpu_.l2, 0.5);
    const double held_all = held_in_l2(moved, gpu_.l2, 1.0);

    const std::array<double, kColumns.size()> x{1.0,
                                                s.B,
                                                memory,
                                                std::min(moved, gpu_.l2) / gpu_.bandwidth,
                                                flops,
                                                padded128,
                                                critical,
                                                std::max(padded128, critical),
                                                blocks / gpu_.sms,
                                                sequence_heads * s.S / gpu_.sms,
                                                s.B * s.K * s.S * s.D / gpu_.bandwidth,
                                                padded64,
                                                wave64,
                                                wave128,
                                                s.B * s.S / gpu_.sms,
                                                memory * held_half,
                                                memory * (1.0 - held_half),
                                                memory * held_all,
                                                memory * (1.0 - held_all),
                                                windowed * wave64,
                                                windowed * wave128,
                                                windowed * blocks / gpu_.sms,
                                                windowed * s.S,
                                                s.S,
                                                wide * wave64,
                                                wide * padded64,
                                                wide * wave128,
                                                packed_padded,
                                                packed_wave,
                                                packed_blocks / gpu_.sms,
                                                ceil_ratio(blocks, gpu_.sms),
                                                ceil_ratio(blocks, gpu_.sms) * s.D,
                                                ceil_ratio(packed_blocks, gpu_.sms),
                                                ceil_ratio(packed_blocks, gpu_.sms) * s.D};
    std::ranges::copy(x, columns.begin());

    const std::array<double, kFeatures.size()> z{std::log2(sequence_heads),
                                                 std::log2(s.S),
                                                 std::log2(s.D),
                                                 std::log2(s.g),
                                                 std::log2(s.B),
                                                 std::log2(blocks / gpu_.sms),
                                                 std::log2(flops / memory),
                                                 beyond_l2(moved, gpu_.l2),
                                                 std::log2(keys),
                                                 windowed,
                                                 std::log2(1.0 + prefix / s.S),
                                                 std::log2(s.K),
                                                 wave_fill(blocks, gpu_.sms),
                                                 std::log2(padded128 / flops),
                                                 std::log2(packed_blocks / gpu_.sms),
                                                 wave_fill(packed_blocks, gpu_.sms),
                                                 std::log2(packed_wave / packed_padded)};
    std::ranges::copy(z, features.begin());
  }

 private:
  static constexpr std::array<std::string_view, 34> kColumns{"launch",
                                                             "batch",
                                                             "memory",
                                                             "l2",
                                                             "compute",
                                                             "padded_128",
                                                             "critical",
                                                             "tiles",
                                                             "blocks",
                                                             "rows",
                                                             "kv_values",
                                                             "padded_64",
                                                             "wave_64",
                                                             "wave_128",
                                                             "tokens",
                                                             "held_half",
                                                             "fetched_half",
                                                             "held_all",
                                                             "fetched_all",
                                                             "windowed_wave_64",
                                                             "windowed_wave_128",
                                                             "windowed_blocks",
                                                             "windowed_seq",
                                                             "seq",
                                                             "wide_wave_64",
                                                             "wide_padded_64",
                                                             "wide_wave_128",
                                                             "packed_padded",
                                                             "packed_wave",
                                                             "packed_blocks",
                                                             "block_waves",
                                                             "block_waves_wide",
                                                             "packed_block_waves",
                                                             "packed_block_waves_wide"};
  static constexpr std::array<std::string_view, 17> kFeatures{
      "log_batch_heads", "log_seq",     "log_head_dim",      "log_group",   "log_batch",   "log_blocks",
      "intensity",       "beyond_l2",   "log_keys",          "windowed",    "log_prefix",  "log_kv_heads",
      "fill_128",        "padding_128", "log_packed_blocks", "fill_packed", "packed_waves"};
  static constexpr std::array<std::string_view, 13> kSmooth{
      "log_batch_heads", "log_seq",  "log_head_dim", "log_group",  "log_batch",         "log_blocks",  "intensity",
      "beyond_l2",       "log_keys", "windowed",     "log_prefix", "log_packed_blocks", "packed_waves"};

  // Time of all q x q tiles that hold at least one visible pair.
  [[nodiscard]] double padded(double q, const Sizes& s, double prefix, double window) const {
    const double rows = ceil_ratio(s.S, q);
    double tiles = rows * (rows + 1.0) / 2.0 + rows * ceil_ratio(prefix, q);
    if (window > 0.0) {
      tiles = std::min(tiles, rows * (ceil_ratio(window, q) + 1.0));
    }
    return 4.0 * s.D * q * q * s.B * s.H * tiles / gpu_.peak;
  }

  // Waves of blocks of q queries, each of average length.
  [[nodiscard]] double wave(double q, const Sizes& s, double keys) const {
    return ceil_ratio(s.B * s.H * ceil_ratio(s.S, q), gpu_.sms) * 4.0 * s.D * q * (keys + q / 2.0) / gpu_.sm_peak();
  }

  Machine gpu_;
  double kv_bytes_;
};

class GenerationFeaturizer final : public Featurizer {
 public:
  GenerationFeaturizer(const Machine& machine, double kv_bytes) : gpu_(machine), kv_bytes_(kv_bytes) {}

  [[nodiscard]] std::span<const std::string_view> column_names() const override { return kColumns; }
  [[nodiscard]] std::span<const std::string_view> feature_names() const override { return kFeatures; }

  [[nodiscard]] FitHints hints() const override {
    FitHints hints;
    for (const std::string_view name : kSmooth) {
      hints.smooth.push_back({name, std::log(1.5)});
    }
    hints.size_field = 1;
    // Of docs/accuracy.md; nothing below 0.02 is believed.
    hints.beyond = {{"batch", 0.03, 0.13},    {"seq", 0.02, 0.11},      {"heads", 0.02, 0.33},
                    {"kv-heads", 0.25, 0.04}, {"head-dim", 0.34, 0.30}, {"window", FitHints::kUnmeasuredBeyond, 0.02}};
    return hints;
  }

  void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const override {
    const Sizes s(shape);
    const double length = s.window > 0.0 ? std::min(s.S, s.window) : s.S;
    const double queries = s.B * (4.0 * s.H * s.D + 4.0 * s.K * s.D);
    const double moved = 2.0 * s.B * length * s.K * s.D * kv_bytes_ + queries;
    const double memory = moved / gpu_.bandwidth;
    const double flops = 4.0 * s.B * s.H * length * s.D / gpu_.peak;
    // Query heads of one group are padded to the 16 rows of a tensor-core tile.
    const double padded = 4.0 * s.B * s.K * ceil_ratio(s.g, 16.0) * 16.0 * length * s.D / gpu_.peak;

    // Blocks of 128 keys; with too few (sequence, kv head) pairs for the SMs each pair's blocks are split over several.
    const double kv_blocks = ceil_ratio(length, 128.0);
    const double pairs = s.B * s.K * ceil_ratio(s.g, 64.0);
    const double splits = pairs >= 0.8 * gpu_.sms ? 1.0 : std::clamp(std::floor(gpu_.sms / pairs), 1.0, kv_blocks);
    const double per_split = ceil_ratio(kv_blocks, splits);
    const double block = 2.0 * 128.0 * s.D * kv_bytes_ / gpu_.sm_bandwidth();
    const double waves = ceil_ratio(pairs * splits, gpu_.sms) * per_split * block;
    const double bound = std::max({flops, memory, waves});
    // A window that hides something starts within a block: there is one block more than it fills, and on some libraries
    // a kernel of its own.
    const double sliding = length < s.S ? 1.0 : 0.0;
    const double held_half = held_in_l2(moved, gpu_.l2, 0.5);
    const double held_all = held_in_l2(moved, gpu_.l2, 1.0);
    // Some libraries have a kernel for one query a kv head and one for more than 32; the mean keeps them apart.
    const double one_query = s.g == 1.0 ? 1.0 : 0.0;
    const double many_queries = s.g > 32.0 ? 1.0 : 0.0;

    const std::array<double, kColumns.size()> x{1.0,
                                                std::min(moved, gpu_.l2) / gpu_.bandwidth,
                                                std::max(moved - gpu_.l2, 0.0) / gpu_.bandwidth,
                                                flops,
                                                padded,
                                                bound,
                                                per_split * block,
                                                s.B,
                                                ceil_ratio(s.B * s.K, gpu_.sms),
                                                s.B * s.H,
                                                std::log2(1.0 + length / 256.0),
                                                queries / gpu_.bandwidth,
                                                splits > 1.0 ? 1.0 : 0.0,
                                                splits,
                                                memory * held_half,
                                                memory * (1.0 - held_half),
                                                memory * held_all,
                                                memory * (1.0 - held_all),
                                                one_query * bound,
                                                many_queries * bound,
                                                many_queries * padded,
                                                many_queries * waves,
                                                sliding,
                                                sliding * s.B,
                                                sliding * waves,
                                                sliding * ceil_ratio(pairs, gpu_.sms) * block};
    std::ranges::copy(x, columns.begin());

    const std::array<double, kFeatures.size()> z{std::log2(s.B * s.K),
                                                 std::log2(length),
                                                 std::log2(s.D),
                                                 std::log2(s.g),
                                                 std::log2(s.B),
                                                 std::log2(moved / gpu_.l2),
                                                 std::log2(waves / memory),
                                                 beyond_l2(moved, gpu_.l2),
                                                 std::log2(s.S / length),
                                                 sliding,
                                                 one_query,
                                                 many_queries,
                                                 std::log2(s.H),
                                                 std::log2(splits),
                                                 wave_fill(pairs * splits, gpu_.sms),
                                                 std::log2(pairs / gpu_.sms)};
    std::ranges::copy(z, features.begin());
  }

  [[nodiscard]] int class_split(const Shape& shape) const override {
    const Sizes s(shape);
    return s.g == 1.0 ? 0 : s.g <= 32.0 ? 1 : 2;
  }

 private:
  static constexpr std::array<std::string_view, 26> kColumns{"launch",
                                                             "l2",
                                                             "beyond_l2",
                                                             "compute",
                                                             "padded_16",
                                                             "bound",
                                                             "split",
                                                             "batch",
                                                             "pair_waves",
                                                             "heads",
                                                             "log_length",
                                                             "queries",
                                                             "is_split",
                                                             "splits",
                                                             "held_half",
                                                             "fetched_half",
                                                             "held_all",
                                                             "fetched_all",
                                                             "bound_one_query",
                                                             "bound_many_queries",
                                                             "padded_many_queries",
                                                             "waves_many_queries",
                                                             "sliding",
                                                             "sliding_batch",
                                                             "sliding_waves",
                                                             "sliding_block"};
  static constexpr std::array<std::string_view, 16> kFeatures{
      "log_pairs",         "log_length", "log_head_dim", "log_group",      "log_batch", "log_bytes",
      "waves_over_memory", "beyond_l2",  "log_hidden",   "sliding",        "one_query", "many_queries",
      "log_heads",         "log_splits", "fill",         "log_pair_blocks"};
  static constexpr std::array<std::string_view, 12> kSmooth{
      "log_pairs", "log_length",        "log_head_dim", "log_group",  "log_batch", "log_bytes",
      "sliding",   "waves_over_memory", "beyond_l2",    "log_hidden", "one_query", "many_queries"};

  Machine gpu_;
  double kv_bytes_;
};

}  // namespace

std::unique_ptr<Featurizer> make_context_attention_featurizer(const GpuSpec& gpu, const Attributes& attributes) {
  return make_kv_featurizer<ContextFeaturizer>(gpu, attributes);
}

std::unique_ptr<Featurizer> make_generation_attention_featurizer(const GpuSpec& gpu, const Attributes& attributes) {
  return make_kv_featurizer<GenerationFeaturizer>(gpu, attributes);
}

}  // namespace roofcal
