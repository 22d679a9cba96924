// GEMM: m x n x k on tensor cores. Columns: roofline terms, waves of thread-block tiles, and the least time over tiles
// and split-k factors. Features: sizes, intensity, fill of the last wave, padding, what the tile search chose.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "calibrate/featurizers.h"

namespace roofcal {
namespace {

struct Tile {
  double m, n;
};

// Tiles whose waves are columns of their own.
constexpr std::array<Tile, 9> kWaveTiles{
    {{64, 64}, {64, 128}, {128, 64}, {128, 128}, {128, 192}, {192, 128}, {128, 256}, {256, 128}, {64, 256}}};

// Tiles and split-k factors that the search tries.
constexpr std::array<Tile, 15> kSearchTiles{{{16, 64},
                                             {16, 128},
                                             {32, 64},
                                             {32, 128},
                                             {64, 32},
                                             {64, 64},
                                             {64, 128},
                                             {128, 32},
                                             {128, 64},
                                             {64, 256},
                                             {256, 64},
                                             {128, 128},
                                             {128, 256},
                                             {256, 128},
                                             {256, 256}}};
constexpr std::array<double, 9> kSplits{1, 2, 3, 4, 6, 8, 12, 16, 32};

// Constants of the tile search: a plausible kernel, not a fitted one (weights and residual correct its time).
constexpr double kTensorEfficiency = 0.8;       // of the peak, in the main loop
constexpr double kL2BytesPerClockAndSm = 40.0;  // what one SM draws from L2
constexpr double kBytesPerStep = 128.0;         // depth of a main-loop step in k, in bytes of an operand row
constexpr double kSecondsPerStep = 60e-9;       // floor of a step: barrier and latency
constexpr double kSecondsPerTile = 0.7e-6;      // prologue and epilogue of a tile
constexpr double kSecondsPerSplit = 1.0e-6;     // second pass of split-k
constexpr double kShareOfL2 = 0.6;              // what stays in L2 between replays
constexpr double kColdRamp = 0.08;              // of the L2 size, over which copies stop fitting
constexpr double kRowAlignment = 4.0;           // rows that a 16-byte load of fp32 scales holds
constexpr double kNarrowTile = 16.0;            // step of the tile widths that a just-in-time compiled kernel may take
constexpr double kWidestTile = 256.0;
// Last row counts of the classes by which cuBLAS and CUTLASS dispatchers choose tiles; more rows are one class.
constexpr std::array<std::int64_t, 4> kRowClasses{16, 64, 128, 256};
constexpr double kTypicalLaunch = 2e-6;  // scale on which work counts against launching

constexpr std::array<std::string_view, 42> kColumns{
    "launch",        "compute",       "memory",          "bound",           "time_64x64",
    "waves_64x64",   "time_64x128",   "waves_64x128",    "time_128x64",     "waves_128x64",
    "time_128x128",  "waves_128x128", "time_128x192",    "waves_128x192",   "time_192x128",
    "waves_192x128", "time_128x256",  "waves_128x256",   "time_256x128",    "waves_256x128",
    "time_64x256",   "waves_64x256",  "best_tile",       "l2_bytes",        "k",
    "search",        "beyond_l2",     "bound_beyond_l2", "output",          "weights",
    "activations",   "cold_5",        "bound_cold_5",    "tile_cold_5",     "cold_6",
    "bound_cold_6",  "tile_cold_6",   "odd_rows",        "odd_activations", "odd_output",
    "fitted_64",     "fitted_128"};

constexpr std::array<std::string_view, 37> kFeatures{"log_m",
                                                     "log_n",
                                                     "log_k",
                                                     "intensity",
                                                     "wave_over_bound",
                                                     "bytes_over_l2",
                                                     "fill_64x64",
                                                     "fill_128x128",
                                                     "fill_128x256",
                                                     "pad_64",
                                                     "log_waves",
                                                     "pad_128",
                                                     "fill_256x128",
                                                     "search_over_bound",
                                                     "search_split",
                                                     "search_fill",
                                                     "work_over_launch",
                                                     "log_tiles",
                                                     "log_mn",
                                                     "log_mk",
                                                     "log_nk",
                                                     "log_mnk",
                                                     "log_bytes",
                                                     "fill_64x128",
                                                     "fill_128x64",
                                                     "fill_128x192",
                                                     "fill_192x128",
                                                     "fill_256x256",
                                                     "fill_64x256",
                                                     "cold_5",
                                                     "cold_6",
                                                     "weights_over_l2",
                                                     "odd_rows",
                                                     "fitted_64_over_bound",
                                                     "fitted_128_over_bound",
                                                     "fitted_over_best",
                                                     "row_class"};

// For x >= 0, faster than std::ceil on the baseline instruction set.
double ceiling(double x) {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole + (x > whole ? 1.0 : 0.0);
}

class GemmFeaturizer final : public Featurizer {
 public:
  GemmFeaturizer(const GpuSpec& gpu, const DType& dtype)
      : peak_(gpu.peak(dtype.rate).value()),
        bandwidth_(gpu.memory_bandwidth.value()),
        sms_(gpu.sm_count),
        l2_(gpu.l2.value()),
        clock_(gpu.boost_clock.value()),
        activation_bytes_(dtype.activation_bytes),
        weight_bytes_(dtype.weight_bytes),
        stored_weight_bytes_(std::floor(2.0 * dtype.weight_bytes) / 2.0),
        block_scaled_(dtype.name == "fp8_block") {
    const double sm_peak = kTensorEfficiency * peak_ / sms_;
    const double sm_l2 = kL2BytesPerClockAndSm * clock_;
    depth_ = kBytesPerStep / std::max(0.5 * (activation_bytes_ + weight_bytes_), 0.5);
    for (std::size_t i = 0; i < kSearchTiles.size(); ++i) {
      const auto [a, b] = kSearchTiles[i];
      // Tensor cores multiply at least 64 rows.
      const double multiply = 2.0 * std::max(a, 64.0) * b * depth_ / sm_peak;
      const double load = depth_ * (a * activation_bytes_ + b * weight_bytes_) / sm_l2;
      step_seconds_[i] = std::max({multiply, load, kSecondsPerStep});
    }
  }

  [[nodiscard]] std::span<const std::string_view> column_names() const override { return kColumns; }
  [[nodiscard]] std::span<const std::string_view> feature_names() const override { return kFeatures; }

  void evaluate(const Shape& shape, std::span<double> columns, std::span<double> features) const override {
    const auto m = static_cast<double>(shape[0]);
    const auto n = static_cast<double>(shape[1]);
    const auto k = static_cast<double>(shape[2]);
    const double bytes = activation_bytes_ * m * k + weight_bytes_ * n * k + 2.0 * m * n;
    const double compute = 2.0 * m * n * k / peak_;
    const double memory = bytes / bandwidth_;
    const double bound = std::max(compute, memory);
    const double beyond_l2 = std::max(bytes - l2_, 0.0) / bandwidth_;

    std::size_t column = 0;
    const auto put = [&](double value) { columns[column++] = value; };
    put(1.0);
    put(compute);
    put(memory);
    put(bound);
    double best_wave_time = std::numeric_limits<double>::infinity();
    double best_waves = 1.0;
    for (const auto [a, b] : kWaveTiles) {
      const double waves = ceiling(ceiling(m / a) * ceiling(n / b) / sms_);
      const double time = waves * 2.0 * a * b * k * sms_ / peak_;
      put(time);
      put(waves);
      if (time < best_wave_time) {
        best_wave_time = time;
        best_waves = waves;
      }
    }
    const Search found = search(m, n, k, std::max(bytes - kShareOfL2 * l2_, 0.0) / bandwidth_);
    put(std::max(best_wave_time, memory));
    put(std::min(bytes, l2_) / bandwidth_);
    put(k);
    put(found.time);
    put(beyond_l2);
    put(std::max(compute, beyond_l2));
    put(2.0 * m * n / bandwidth_);
    const double weights = weight_bytes_ * n * k;
    put(weights / bandwidth_);
    put(activation_bytes_ * m * k / bandwidth_);
    const double cold_5 = cold_share(n * k, std::clamp(ceiling(l2_ / (stored_weight_bytes_ * n * k)), 1.0, 5.0));
    const double cold_6 = cold_share(n * k, 6.0);
    for (const double share : {cold_5, cold_6}) {
      const double fetch = share * weights / bandwidth_;
      put(fetch);
      put(std::max(compute, fetch));
      put(std::max({best_wave_time, memory, fetch}));
    }
    // Block-scaled kernels load scales of four rows at once: other row counts are padded by a kernel of its own.
    const double odd_rows = std::fmod(m, kRowAlignment) == 0.0 ? 0.0 : 1.0;
    put(odd_rows);
    put(odd_rows * activation_bytes_ * m * k / bandwidth_);
    put(odd_rows * 2.0 * m * n / bandwidth_);
    const double fitted_64 = fitted_tile_time(m, n, k, 64.0);
    const double fitted_128 = fitted_tile_time(m, n, k, 128.0);
    put(std::max(fitted_64, memory));
    put(std::max(fitted_128, memory));
    // Libraries choose their tiles by classes of row counts.
    const auto row_class =
        static_cast<std::size_t>(std::ranges::lower_bound(kRowClasses, shape[0]) - kRowClasses.begin());

    const double log_m = std::log2(m);
    const double log_n = std::log2(n);
    const double log_k = std::log2(k);
    const double log_bytes = std::log2(bytes);
    std::size_t feature = 0;
    const auto tell = [&](double value) { features[feature++] = value; };
    tell(log_m);
    tell(log_n);
    tell(log_k);
    tell(std::log2(compute / memory));
    tell(std::log2(best_wave_time / bound));
    tell(std::tanh(log_bytes - std::log2(l2_)));
    tell(fill(m, n, {64, 64}));
    tell(fill(m, n, {128, 128}));
    tell(fill(m, n, {128, 256}));
    tell(std::log2(64.0 * ceiling(m / 64.0)) - log_m);
    tell(std::min(std::log2(best_waves), 6.0));
    tell(std::log2(128.0 * ceiling(m / 128.0)) - log_m);
    tell(fill(m, n, {256, 128}));
    tell(std::log2(found.time / (bound + kTypicalLaunch)));
    tell(std::log2(found.split));
    tell(found.fill);
    tell(std::log2(bound / kTypicalLaunch));
    tell(std::log2(ceiling(m / 128.0) * ceiling(n / 128.0) / sms_));
    tell(log_m + log_n);
    tell(log_m + log_k);
    tell(log_n + log_k);
    tell(log_m + log_n + log_k);
    tell(log_bytes);
    tell(fill(m, n, {64, 128}));
    tell(fill(m, n, {128, 64}));
    tell(fill(m, n, {128, 192}));
    tell(fill(m, n, {192, 128}));
    tell(fill(m, n, {256, 256}));
    tell(fill(m, n, {64, 256}));
    tell(cold_5);
    tell(cold_6);
    tell(std::tanh(std::log2(weights / l2_)));
    tell(odd_rows);
    tell(std::log2(fitted_64 / bound));
    tell(std::log2(fitted_128 / bound));
    tell(std::log2(std::min(fitted_64, fitted_128) / best_wave_time));
    tell(static_cast<double>(row_class));
  }

  [[nodiscard]] FitHints hints() const override {
    FitHints hints;
    // The mean of what ten classes of 1000 points learned; all features lie near it.
    constexpr double kLogLength = 1.1;
    for (const std::string_view name : {"log_m",
                                        "log_n",
                                        "log_k",
                                        "intensity",
                                        "wave_over_bound",
                                        "bytes_over_l2",
                                        "fill_64x64",
                                        "fill_128x128",
                                        "fill_128x256",
                                        "pad_64",
                                        "log_waves",
                                        "pad_128",
                                        "fill_256x128",
                                        "search_over_bound",
                                        "search_split",
                                        "search_fill",
                                        "work_over_launch",
                                        "cold_5",
                                        "cold_6",
                                        "weights_over_l2",
                                        "row_class"}) {
      hints.smooth.push_back({name, kLogLength});
    }
    hints.spread = {"log_m",          "log_n",        "log_k",   "wave_over_bound",   "bytes_over_l2",
                    "fill_128x128",   "fill_256x128", "pad_128", "search_over_bound", "cold_5",
                    "weights_over_l2"};
    if (block_scaled_) {
      for (const std::string_view name : {"odd_rows", "fitted_64_over_bound", "fitted_128_over_bound"}) {
        hints.smooth.push_back({name, kLogLength});
        hints.spread.push_back(name);
      }
    }
    // Of docs/accuracy.md; nothing below 0.02 is believed.
    hints.beyond = {{"m", 0.02, 0.06}, {"n", 0.04, 0.03}, {"k", 0.03, 0.12}};
    return hints;
  }

 private:
  struct Search {
    double time = std::numeric_limits<double>::infinity();
    double split = 1.0;
    double fill = 1.0;  // of the last wave
  };

  // The share of the weights that has left L2 when a call begins, where a benchmark goes round `copies` of them, as
  // those of TensorRT-LLM (up to 5) and vLLM (6) do: none while all copies fit, all soon after.
  [[nodiscard]] double cold_share(double elements, double copies) const {
    return std::clamp((copies * stored_weight_bytes_ * elements / l2_ - 1.0) / kColdRamp, 0.0, 1.0);
  }

  // The fill of the last wave of tiles on the SMs, in (0, 1].
  [[nodiscard]] double fill(double m, double n, Tile tile) const {
    const double waves = ceiling(m / tile.m) * ceiling(n / tile.n) / sms_;
    return waves / ceiling(waves);
  }

  // The time of the fewest waves of tiles of a fixed height and the narrowest width that needs no more: how DeepGEMM
  // (github.com/deepseek-ai/DeepGEMM, get_best_configs) chooses its block of n.
  [[nodiscard]] double fitted_tile_time(double m, double n, double k, double height) const {
    const double rows = ceiling(m / height);
    double best_waves = std::numeric_limits<double>::infinity();
    double best_width = kWidestTile;
    for (double width = kWidestTile; width >= kNarrowTile; width -= kNarrowTile) {
      const double waves = ceiling(rows * ceiling(n / width) / sms_);
      if (waves <= best_waves) {
        best_waves = waves;
        best_width = width;
      }
    }
    return best_waves * 2.0 * height * best_width * k * sms_ / peak_;
  }

  // The least time over tiles and split-k factors; `memory`: the least time of the traffic beyond L2.
  [[nodiscard]] Search search(double m, double n, double k, double memory) const {
    std::array<double, kSplits.size()> steps{};
    std::array<double, kSplits.size()> extra{};
    const double partial_sums = 8.0 * m * n / (kL2BytesPerClockAndSm * clock_ * sms_);
    for (std::size_t s = 0; s < kSplits.size(); ++s) {
      steps[s] = ceiling(ceiling(k / kSplits[s]) / depth_);
      extra[s] = kSplits[s] > 1.0 ? kSecondsPerSplit + kSplits[s] * partial_sums : 0.0;
    }
    const double per_sm = 1.0 / sms_;
    Search best;
    for (std::size_t t = 0; t < kSearchTiles.size(); ++t) {
      const double tiles = ceiling(m / kSearchTiles[t].m) * ceiling(n / kSearchTiles[t].n) * per_sm;
      for (std::size_t s = 0; s < kSplits.size(); ++s) {
        const double waves = tiles * kSplits[s];
        // A hair is taken off, so that a whole number of waves is not rounded up by the reciprocal.
        const double whole = ceiling(waves - 1e-9);
        const double time = std::max(whole * (steps[s] * step_seconds_[t] + kSecondsPerTile), memory) + extra[s];
        if (time < best.time * 0.9999) best = {time, kSplits[s], waves / whole};
      }
    }
    return best;
  }

  double peak_, bandwidth_, sms_, l2_, clock_;
  double activation_bytes_, weight_bytes_;
  double stored_weight_bytes_;  // without scales
  bool block_scaled_;
  double depth_ = 1.0;  // of a step, in elements of k
  std::array<double, kSearchTiles.size()> step_seconds_{};
};

}  // namespace

std::unique_ptr<Featurizer> make_gemm_featurizer(const GpuSpec& gpu, const Attributes& attributes) {
  const auto name = attributes.find("dtype");
  const DType* dtype = name == attributes.end() ? nullptr : find_dtype(name->second);
  const bool complete = dtype != nullptr && gpu.has(dtype->rate) && gpu.sm_count > 0 && gpu.l2.value() > 0.0 &&
                        gpu.memory_bandwidth.value() > 0.0 && gpu.boost_clock.value() > 0.0;
  return complete ? std::make_unique<GemmFeaturizer>(gpu, *dtype) : nullptr;
}

}  // namespace roofcal
