// Mixture of experts: grouped GEMMs over the tokens that a simulated router sends to the busiest rank. The collectors
// of the public timings placed left-over assignments in one of two ways (core/router.h); each gives columns of its own,
// and the fit finds which a class was timed with.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "calibrate/featurizers.h"
#include "calibrate/tiles.h"
#include "core/moe.h"

namespace roofcal {
namespace {

constexpr std::size_t kCommon = 6;
constexpr std::size_t kPerLoad = 13;

class MoeFeaturizer final : public Featurizer {
 public:
  MoeFeaturizer(const Machine& machine, const DType& dtype, bool gated)
      : gpu_(machine), weight_bytes_(dtype.weight_bytes), matrices_(gated ? 3.0 : 2.0) {}

  [[nodiscard]] std::span<const std::string_view> column_names() const override { return kColumns; }
  [[nodiscard]] std::span<const std::string_view> feature_names() const override { return kFeatures; }

  [[nodiscard]] FitHints hints() const override {
    FitHints hints;
    for (const std::string_view name : kSmooth) {
      hints.smooth.push_back({name, std::log(1.5)});
    }
    // Of docs/accuracy.md; nothing below 0.05 is believed. Balanced routers seen from power laws alone (6.7 octaves
    // in this field): nine in ten within a factor of 1.4.
    hints.beyond = {{"tokens", 0.06, 0.09},
                    {"hidden", 0.21, 0.18},
                    {"inter", 0.05, FitHints::kUnmeasuredBeyond},
                    {"experts", 0.05, 0.18},
                    {"topk", 0.28, FitHints::kUnmeasuredBeyond},
                    {"tp", 0.06, 0.10},
                    {"ep", 0.06, 0.12},
                    {"distribution", 0.05, FitHints::kUnmeasuredBeyond}};
    return hints;
  }

  void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const override {
    const RouterQuestion question = router_question(shape);
    const RouterLoad load = each_rank_.load(question);
    const RouterLoad piled = any_rank_.load(question);
    const auto T = static_cast<double>(question.tokens);
    const auto E = static_cast<double>(question.experts);
    const auto k = static_cast<double>(question.topk);
    const auto ep = static_cast<double>(question.ep);
    const auto tp = static_cast<double>(moe_size(shape, MoeField::tp));
    const auto H = static_cast<double>(moe_size(shape, MoeField::hidden));
    const double I = static_cast<double>(moe_size(shape, MoeField::inter)) / tp;

    columns[0] = 1.0;
    columns[1] = (H + I) * 128.0 * weight_bytes_ / gpu_.sm_bandwidth();
    columns[2] = E / ep;
    columns[3] = T * E;
    columns[4] = T * k;
    columns[5] = T;
    put(load, T, H, I, columns.subspan(kCommon, kPerLoad));
    put(piled, T, H, I, columns.subspan(kCommon + kPerLoad, kPerLoad));

    const double weights = load.active_experts * matrices_ * H * I * weight_bytes_;
    const double flops = 2.0 * load.assignments * matrices_ * H * I;
    const double moved = weights + activations(load, T, H, I);
    const double blocks128 = load.tiles128 * ceil_ratio((matrices_ - 1.0) * I, 128.0);
    const std::array<double, kFeatures.size()> z{std::log2(T),
                                                 std::log2(E / ep),
                                                 std::log2(k),
                                                 std::log2(H),
                                                 std::log2(I),
                                                 std::log2(load.assignments / load.active_experts),
                                                 std::log2(load.active_experts),
                                                 std::log2(flops / gpu_.peak / (moved / gpu_.bandwidth)),
                                                 beyond_l2(weights, gpu_.l2),
                                                 static_cast<double>(question.alpha) / 1000.0,
                                                 std::log2(ep),
                                                 std::log2(piled.active_experts / load.active_experts),
                                                 std::log2(load.heaviest * load.active_experts / load.assignments),
                                                 std::log2(tp),
                                                 std::log2(E),
                                                 std::log2(piled.assignments / load.assignments),
                                                 std::log2(16.0 * load.tiles16 / load.assignments),
                                                 std::log2(64.0 * load.tiles64 / load.assignments),
                                                 std::log2(128.0 * load.tiles128 / load.assignments),
                                                 std::log2(weights / gpu_.l2),
                                                 std::log2(blocks128 / gpu_.sms),
                                                 wave_fill(blocks128, gpu_.sms),
                                                 std::log2(load.heaviest)};
    std::ranges::copy(z, features.begin());
  }

 private:
  static constexpr std::array<std::string_view, kCommon + 2 * kPerLoad> kColumns{
      "launch",           "one_block",       "local_experts",
      "routing",          "assigned",        "tokens",
      "weights",          "activations",     "compute",
      "padded_16",        "padded_64",       "padded_128",
      "bound_16",         "bound_64",        "bound_128",
      "wave_64",          "wave_128",        "active",
      "weights_l2",       "piled_weights",   "piled_activations",
      "piled_compute",    "piled_padded_16", "piled_padded_64",
      "piled_padded_128", "piled_bound_16",  "piled_bound_64",
      "piled_bound_128",  "piled_wave_64",   "piled_wave_128",
      "piled_active",     "piled_weights_l2"};
  static constexpr std::array<std::string_view, 23> kFeatures{
      "log_tokens",  "log_local_experts", "log_topk",   "log_hidden", "log_inter",    "log_rows",    "log_active",
      "intensity",   "beyond_l2",         "alpha",      "log_ep",     "piled_active", "imbalance",   "log_tp",
      "log_experts", "piled_rows",        "padding_16", "padding_64", "padding_128",  "log_weights", "log_blocks",
      "fill_128",    "log_heaviest"};
  static constexpr std::array<std::string_view, 12> kSmooth{
      "log_tokens", "log_local_experts", "log_topk",  "log_hidden", "log_inter", "log_rows",
      "log_active", "intensity",         "beyond_l2", "alpha",      "log_ep",    "piled_active"};

  // Bytes of tokens between memory and both GEMMs: gathered inputs, the intermediate and the outputs of each
  // assignment, all at 2 bytes, and the layer's own input and output.
  [[nodiscard]] double activations(const RouterLoad& load, double T, double H, double I) const {
    return load.assignments * (4.0 * H + 4.0 * (matrices_ - 1.0) * I + 2.0 * I) + 4.0 * T * H;
  }

  void put(const RouterLoad& load, double T, double H, double I, std::span<double> columns) const {
    const double matrix = matrices_ * H * I;
    const double weights = load.active_experts * matrix * weight_bytes_ / gpu_.bandwidth;
    const auto padded = [&](double rows, double tiles) { return 2.0 * rows * tiles * matrix / gpu_.peak; };
    // Waves of blocks of `rows` x 128 outputs of the first GEMM, then of the second.
    const auto wave = [&](double rows, double tiles) {
      const double first = ceil_ratio(tiles * ceil_ratio((matrices_ - 1.0) * I, 128.0), gpu_.sms) * H;
      const double second = ceil_ratio(tiles * ceil_ratio(H, 128.0), gpu_.sms) * I;
      return 256.0 * rows * (first + second) / gpu_.sm_peak();
    };
    const double padded16 = padded(16.0, load.tiles16);
    const double padded64 = padded(64.0, load.tiles64);
    const double padded128 = padded(128.0, load.tiles128);
    const std::array<double, kPerLoad> x{weights,
                                         activations(load, T, H, I) / gpu_.bandwidth,
                                         2.0 * load.assignments * matrix / gpu_.peak,
                                         padded16,
                                         padded64,
                                         padded128,
                                         std::max(weights, padded16),
                                         std::max(weights, padded64),
                                         std::max(weights, padded128),
                                         wave(64.0, load.tiles64),
                                         wave(128.0, load.tiles128),
                                         load.active_experts,
                                         std::min(weights, gpu_.l2 / gpu_.bandwidth)};
    std::ranges::copy(x, columns.begin());
  }

  Machine gpu_;
  double weight_bytes_;
  double matrices_;  // an expert's weight matrices
  RouterSimulator each_rank_{Leftovers::each_rank};
  RouterSimulator any_rank_{Leftovers::any_rank};
};

}  // namespace

std::unique_ptr<Featurizer> make_moe_featurizer(const GpuSpec& gpu, const Attributes& attributes) {
  const DType& dtype = *find_dtype(attributes.find("dtype")->second);
  const auto machine = Machine::of(gpu, dtype.rate);
  const bool gated = attributes.find("gated")->second == "yes";
  return machine ? std::make_unique<MoeFeaturizer>(*machine, dtype, gated) : nullptr;
}

}  // namespace roofcal
