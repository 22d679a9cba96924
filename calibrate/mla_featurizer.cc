// Multi-head latent attention: prefill as attention of 192-wide keys and 128-wide values, decode on the latent, which
// all heads share: each 64 heads read the cache once more.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "calibrate/featurizers.h"
#include "calibrate/kv_featurizer.h"
#include "calibrate/tiles.h"
#include "core/attention.h"
#include "core/mla.h"

namespace roofcal {
namespace {

class ContextFeaturizer final : public Featurizer {
 public:
  ContextFeaturizer(const Machine& machine, double kv_bytes) : gpu_(machine), kv_bytes_(kv_bytes) {}

  [[nodiscard]] std::span<const std::string_view> column_names() const override { return kColumns; }
  [[nodiscard]] std::span<const std::string_view> feature_names() const override { return kFeatures; }

  [[nodiscard]] FitHints hints() const override {
    FitHints hints;
    hints.size_field = 1;
    // Of docs/accuracy.md; nothing below 0.02 is believed.
    hints.beyond = {{"batch", 0.02, 0.02}, {"seq", 0.03, 0.02}, {"heads", 0.02, 0.02}};
    return hints;
  }

  void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const override {
    const auto B = static_cast<double>(shape[0]);
    const auto S = static_cast<double>(shape[1]);
    const auto H = static_cast<double>(shape[2]);
    const auto prefix = static_cast<double>(shape[3]);
    const double keys = causal_pairs(S, prefix, 0.0) / S;
    const double flops = kFlopsPerPair * B * H * keys * S / gpu_.peak;
    const double moved = 1280.0 * B * S * H + MlaSizes::latent * kv_bytes_ * B * (S + prefix);
    const double memory = moved / gpu_.bandwidth;
    const double padded64 = padded(64.0, B * H, S, prefix);
    const double padded128 = padded(128.0, B * H, S, prefix);
    const double critical = kFlopsPerPair * 128.0 * 128.0 * ceil_ratio(S + prefix, 128.0) / gpu_.sm_peak();
    const double blocks = B * H * ceil_ratio(S, 128.0);
    const double held_half = held_in_l2(moved, gpu_.l2, 0.5);
    const double held_all = held_in_l2(moved, gpu_.l2, 1.0);

    const std::array<double, kColumns.size()> x{1.0,
                                                B,
                                                memory,
                                                std::min(moved, gpu_.l2) / gpu_.bandwidth,
                                                flops,
                                                padded128,
                                                critical,
                                                std::max(padded128, critical),
                                                blocks / gpu_.sms,
                                                B * H * S / gpu_.sms,
                                                B * S * MlaSizes::latent / gpu_.bandwidth,
                                                padded64,
                                                wave(64.0, B * H, S, keys),
                                                wave(128.0, B * H, S, keys),
                                                B * S / gpu_.sms,
                                                memory * held_half,
                                                memory * (1.0 - held_half),
                                                memory * held_all,
                                                memory * (1.0 - held_all)};
    std::ranges::copy(x, columns.begin());

    const std::array<double, kFeatures.size()> z{std::log2(B * H),
                                                 std::log2(S),
                                                 std::log2(B),
                                                 std::log2(blocks / gpu_.sms),
                                                 std::log2(flops / memory),
                                                 beyond_l2(moved, gpu_.l2),
                                                 std::log2(H),
                                                 std::log2(1.0 + prefix / S),
                                                 wave_fill(blocks, gpu_.sms)};
    std::ranges::copy(z, features.begin());
  }

 private:
  static constexpr double kFlopsPerPair = 2.0 * (MlaSizes::qk + MlaSizes::v);
  static constexpr std::array<std::string_view, 19> kColumns{
      "launch", "batch",     "memory",       "l2",       "compute",    "padded_128", "critical",
      "tiles",  "blocks",    "rows",         "latent",   "padded_64",  "wave_64",    "wave_128",
      "tokens", "held_half", "fetched_half", "held_all", "fetched_all"};
  static constexpr std::array<std::string_view, 9> kFeatures{"log_batch_heads", "log_seq",    "log_batch",
                                                             "log_blocks",      "intensity",  "beyond_l2",
                                                             "log_heads",       "log_prefix", "fill_128"};

  [[nodiscard]] double padded(double q, double sequence_heads, double S, double prefix) const {
    const double rows = ceil_ratio(S, q);
    const double tiles = rows * (rows + 1.0) / 2.0 + rows * ceil_ratio(prefix, q);
    return kFlopsPerPair * q * q * sequence_heads * tiles / gpu_.peak;
  }

  [[nodiscard]] double wave(double q, double sequence_heads, double S, double keys) const {
    return ceil_ratio(sequence_heads * ceil_ratio(S, q), gpu_.sms) * kFlopsPerPair * q * (keys + q / 2.0) /
           gpu_.sm_peak();
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
    hints.size_field = 1;
    // Of docs/accuracy.md; nothing below 0.02 is believed.
    hints.beyond = {{"batch", 0.08, 0.07}, {"seq", 0.02, 0.50}, {"heads", 0.02, 0.28}};
    return hints;
  }

  void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const override {
    constexpr double kFlops = 2.0 * (MlaSizes::latent + MlaSizes::latent_v);  // a head and cached token
    const auto B = static_cast<double>(shape[0]);
    const auto L = static_cast<double>(shape[1]);
    const auto H = static_cast<double>(shape[2]);
    const double cache = MlaSizes::latent * B * L * kv_bytes_;
    const double queries = kFlops * B * H;  // 2 bytes a value: the same number
    const double moved = cache + queries;
    const double memory = moved / gpu_.bandwidth;
    const double flops = kFlops * B * H * L / gpu_.peak;
    const double padded16 = kFlops * B * ceil_ratio(H, 16.0) * 16.0 * L / gpu_.peak;
    const double padded64 = kFlops * B * ceil_ratio(H, 64.0) * 64.0 * L / gpu_.peak;

    // Blocks of 64 tokens for 64 heads at a time, split over SMs as in generation attention.
    const double head_tiles = ceil_ratio(H, 64.0);
    const double kv_blocks = ceil_ratio(L, 64.0);
    const double tiles = B * head_tiles;
    const double splits = tiles >= 0.8 * gpu_.sms ? 1.0 : std::clamp(std::floor(gpu_.sms / tiles), 1.0, kv_blocks);
    const double per_split = ceil_ratio(kv_blocks, splits);
    const double block =
        std::max(64.0 * MlaSizes::latent * kv_bytes_ / gpu_.sm_bandwidth(), kFlops * 64.0 * 64.0 / gpu_.sm_peak());
    const double waves = ceil_ratio(tiles * splits, gpu_.sms) * per_split * block;
    const double held_half = held_in_l2(moved, gpu_.l2, 0.5);
    const double held_all = held_in_l2(moved, gpu_.l2, 1.0);

    const std::array<double, kColumns.size()> x{1.0,
                                                std::min(moved, gpu_.l2) / gpu_.bandwidth,
                                                std::max(moved - gpu_.l2, 0.0) / gpu_.bandwidth,
                                                flops,
                                                padded16,
                                                padded64,
                                                std::max({flops, memory, waves}),
                                                per_split * block,
                                                B,
                                                ceil_ratio(tiles, gpu_.sms),
                                                B * H,
                                                std::log2(1.0 + L / 256.0),
                                                queries / gpu_.bandwidth,
                                                splits > 1.0 ? 1.0 : 0.0,
                                                splits,
                                                head_tiles * cache / gpu_.bandwidth,
                                                memory * held_half,
                                                memory * (1.0 - held_half),
                                                memory * held_all,
                                                memory * (1.0 - held_all)};
    std::ranges::copy(x, columns.begin());

    const std::array<double, kFeatures.size()> z{std::log2(B),
                                                 std::log2(L),
                                                 std::log2(H),
                                                 std::log2(tiles / gpu_.sms),
                                                 std::log2(moved / gpu_.l2),
                                                 std::log2(waves / memory),
                                                 beyond_l2(moved, gpu_.l2),
                                                 std::log2(splits),
                                                 wave_fill(tiles * splits, gpu_.sms)};
    std::ranges::copy(z, features.begin());
  }

 private:
  static constexpr std::array<std::string_view, 20> kColumns{
      "launch", "l2",      "beyond_l2",  "compute",      "padded_16",  "padded_64",  "bound",
      "split",  "batch",   "tile_waves", "heads",        "log_length", "queries",    "is_split",
      "splits", "rereads", "held_half",  "fetched_half", "held_all",   "fetched_all"};
  static constexpr std::array<std::string_view, 9> kFeatures{"log_batch", "log_length", "log_heads",
                                                             "log_tiles", "log_bytes",  "waves_over_memory",
                                                             "beyond_l2", "log_splits", "fill"};

  Machine gpu_;
  double kv_bytes_;
};

}  // namespace

std::unique_ptr<Featurizer> make_context_mla_featurizer(const GpuSpec& gpu, const Attributes& attributes) {
  return make_kv_featurizer<ContextFeaturizer>(gpu, attributes);
}

std::unique_ptr<Featurizer> make_generation_mla_featurizer(const GpuSpec& gpu, const Attributes& attributes) {
  return make_kv_featurizer<GenerationFeaturizer>(gpu, attributes);
}

}  // namespace roofcal
