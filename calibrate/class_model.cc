#include "calibrate/class_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "calibrate/class_key_json.h"
#include "calibrate/json_reading.h"
#include "calibrate/model_state.h"
#include "core/roofline.h"

namespace roofcal {
namespace {

// Shapes evaluated per pass: a tree is walked for all of them while it is in cache.
constexpr std::size_t kChunk = 128;

// Beyond the calibrated range the residual halves every four octaves, so that the physical mean leads in the end.
// Leaving out m >= 8192 on six classes, the residual as it stands was better than a fast fade on five of them (2.8 to
// 22 % against 5.5 to 28 % MAPE).
const double kFadePerOctave = std::exp2(-0.25);

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// One pass over up to kChunk shapes.
class Pass {
 public:
  explicit Pass(const ClassModel::State& state)
      : state_(state),
        features_(state.featurizer->feature_names().size()),
        columns_(state.featurizer->column_names().size()),
        row_(features_) {}

  void predict(std::span<const Shape> shapes, std::span<Estimate> out) {
    describe(shapes, out);
    const std::size_t count = shapes.size();
    state_.bins.bin_rows(std::span(values_).first(count * features_), rows_);
    state_.interval.log_scales(rows_, std::span(log_scale_).first(count));
    std::fill_n(residual_.begin(), count, 0.0);
    if (!state_.trees.empty()) state_.trees.predict(rows_, std::span(residual_).first(count));
    if (!state_.process.empty()) {
      const double share = state_.process_share;
      for (std::size_t i = 0; i < count; ++i) {
        const double process = state_.process.predict(std::span(values_).subspan(i * features_, features_));
        residual_[i] = share * process + (1.0 - share) * residual_[i];
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      finish(shapes[i], i, out[i]);
    }
  }

 private:
  // Mean, features, region of every shape.
  void describe(std::span<const Shape> shapes, std::span<Estimate> out) {
    values_.resize(shapes.size() * features_);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const auto position = state_.range.locate(shapes[i], *state_.op, state_.beyond);
      state_.featurizer->evaluate(shapes[i], columns_, row_);
      const double mean = dot(columns_, state_.weights);
      mean_[i] = state_.curve.empty() ? mean : state_.curve.time(static_cast<double>(shapes[i][0]));
      out[i].launch_share = state_.launch_column < columns_.size() && mean > 0.0
                                ? columns_[state_.launch_column] * state_.weights[state_.launch_column] / mean
                                : 0.0;
      std::transform(row_.begin(), row_.end(), values_.begin() + static_cast<std::ptrdiff_t>(i * features_),
                     [](double value) { return static_cast<float>(value); });
      out[i].region = position.region;
      out[i].outside_fields = position.outside_fields;
      out[i].widening = position.widening;
      octaves_[i] = position.octaves;
      size_[i] = shapes[i][state_.size_field];
    }
  }

  void finish(const Shape& shape, std::size_t i, Estimate& estimate) const {
    double residual = residual_[i];
    const double scale = std::exp(log_scale_[i]);
    if (estimate.region == Region::outside) residual *= std::pow(kFadePerOctave, octaves_[i]);
    const Quantiles& quantiles = state_.interval.quantiles(size_[i]);
    const double time = mean_[i] * std::exp(residual);
    estimate.bound = roofline(state_.gpu, state_.op->work(state_.key.attributes, shape), state_.key.cache);
    const Seconds least = state_.figures.least_over_bound * estimate.bound.time;
    estimate.time = std::max(Seconds(time), least);
    estimate.lo = std::clamp(Seconds(time * std::exp(scale * quantiles.lo - estimate.widening)), least, estimate.time);
    estimate.hi = std::max(Seconds(time * std::exp(scale * quantiles.hi + estimate.widening)), estimate.time);
  }

  const ClassModel::State& state_;
  std::size_t features_;
  std::vector<double> columns_, row_;
  std::vector<float> values_;
  BinnedRows rows_;
  std::array<double, kChunk> mean_, residual_, log_scale_, octaves_;
  std::array<std::int64_t, kChunk> size_;
};

nlohmann::json figures_to_json(const FitFigures& figures) {
  return {{"rows", figures.rows},
          {"points", figures.points},
          {"mape", figures.mape},
          {"p95_ape", figures.p95_ape},
          {"coverage90", figures.coverage90},
          {"kernel_seconds", figures.kernel_seconds},
          {"least_over_bound", figures.least_over_bound},
          {"host_bound", figures.host_bound}};
}

FitFigures figures_from_json(const nlohmann::json& json) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  FitFigures figures;
  figures.rows = static_cast<std::size_t>(read_integer(json, "rows", 1, kMost));
  figures.points = static_cast<std::size_t>(read_integer(json, "points", 1, kMost));
  figures.mape = read_number(json, "mape", 0.0, 1e9);
  figures.p95_ape = read_number(json, "p95_ape", 0.0, 1e9);
  figures.coverage90 = read_number(json, "coverage90", 0.0, 1.0);
  figures.kernel_seconds = read_number(json, "kernel_seconds", 0.0, 1e12);
  // Absent from the files of versions that did not know it.
  if (json.contains("least_over_bound")) figures.least_over_bound = read_number(json, "least_over_bound", 0.0, 1.0);
  figures.host_bound = read_bool(json, "host_bound");
  return figures;
}

// Shapes gathered by part, so that each part's trees are walked for many shapes at once.
void predict_parts(const ClassModel::State& state, std::span<const Shape> shapes, std::span<Estimate> out) {
  std::vector<std::vector<std::size_t>> rows(state.parts.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    rows[static_cast<std::size_t>(&state.part_of(shapes[i]) - state.parts.data())].push_back(i);
  }
  std::vector<Shape> gathered;
  std::vector<Estimate> estimates;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const ClassModel::State::Part& part = state.parts[at];
    gathered.clear();
    for (const std::size_t i : rows[at]) gathered.push_back(shapes[i]);
    estimates.assign(gathered.size(), Estimate{});
    part.model.predict(gathered, estimates);
    for (std::size_t j = 0; j < gathered.size(); ++j) {
      out[rows[at][j]] = estimates[j];
      // A kernel that was never calibrated is outside, whatever its sizes.
      if (state.featurizer->class_split(gathered[j]) != part.split) out[rows[at][j]].region = Region::outside;
    }
  }
}

void read_parts(const nlohmann::json& json, const GpuSpec& gpu, ClassModel::State& state) {
  require(json.is_array() && json.size() > 1, "\"parts\" that are not several models");
  for (const nlohmann::json& entry : json) {
    const auto split = static_cast<int>(read_integer(entry, "split", 0, 1000));
    require(state.parts.empty() || split > state.parts.back().split, "parts out of order");
    const nlohmann::json& inner = member(entry, "model");
    require(!inner.contains("parts"), "a part that has parts itself");
    auto model = ClassModel::from_json(inner, gpu);
    require(model.ok(), model.ok() ? std::string() : model.error().message);
    require(model->key() == state.key, "a part of another class");
    state.parts.push_back({split, *std::move(model)});
  }
}

}  // namespace

ClassModel::ClassModel(std::unique_ptr<State> state) : state_(std::move(state)) {
  const auto names = state_->featurizer->column_names();
  state_->launch_column = static_cast<std::size_t>(std::ranges::find(names, "launch") - names.begin());
  const std::vector<FitHints::Beyond> measured = state_->featurizer->hints().beyond;
  for (const Field& field : state_->op->fields()) {
    const auto cost = std::ranges::find(measured, field.name, &FitHints::Beyond::field);
    state_->beyond.push_back(cost == measured.end()
                                 ? BeyondCost{FitHints::kUnmeasuredBeyond, FitHints::kUnmeasuredBeyond}
                                 : BeyondCost{cost->below, cost->above});
  }
}
ClassModel::ClassModel(ClassModel&&) noexcept = default;
ClassModel& ClassModel::operator=(ClassModel&&) noexcept = default;
ClassModel::~ClassModel() = default;

const ClassKey& ClassModel::key() const { return state_->key; }
const FitFigures& ClassModel::figures() const { return state_->figures; }

const std::string& ClassModel::derived_from() const { return state_->derived_from; }

void ClassModel::predict(std::span<const Shape> shapes, std::span<Estimate> out) const {
  if (!state_->parts.empty()) {
    predict_parts(*state_, shapes, out);
    return;
  }
  Pass pass(*state_);
  for (std::size_t begin = 0; begin < shapes.size(); begin += kChunk) {
    const std::size_t count = std::min(kChunk, shapes.size() - begin);
    pass.predict(shapes.subspan(begin, count), out.subspan(begin, count));
  }
}

Estimate ClassModel::predict(const Shape& shape) const {
  Estimate estimate;
  predict(std::span(&shape, 1), std::span(&estimate, 1));
  return estimate;
}

Seconds ClassModel::mean(const Shape& shape) const {
  if (!state_->parts.empty()) return state_->part_of(shape).model.mean(shape);
  std::vector<double> columns(state_->featurizer->column_names().size());
  std::vector<double> features(state_->featurizer->feature_names().size());
  state_->featurizer->evaluate(shape, columns, features);
  return Seconds(dot(columns, state_->weights));
}

ClassModel::Range ClassModel::calibrated_range(std::size_t field) const {
  if (state_->parts.empty()) return state_->range.field(field);
  Range all = state_->parts.front().model.calibrated_range(field);
  for (const State::Part& part : state_->parts) {
    const Range range = part.model.calibrated_range(field);
    all = {std::min(all.min, range.min), std::max(all.max, range.max)};
  }
  return all;
}

std::optional<Seconds> ClassModel::measured(const Shape& shape) const {
  return state_->parts.empty() ? state_->points.time_of(shape) : state_->part_of(shape).model.measured(shape);
}

std::vector<Neighbour> ClassModel::nearest(const Shape& shape, std::size_t count) const {
  if (!state_->parts.empty()) return state_->part_of(shape).model.nearest(shape, count);
  return state_->points.nearest(shape, count, *state_->op);
}

nlohmann::json ClassModel::to_json() const {
  if (!state_->parts.empty()) {
    nlohmann::json parts = nlohmann::json::array();
    for (const State::Part& part : state_->parts) {
      parts.push_back({{"split", part.split}, {"model", part.model.to_json()}});
    }
    return {{"key", class_key_to_json(state_->key)}, {"figures", figures_to_json(state_->figures)}, {"parts", parts}};
  }
  nlohmann::json weights = nlohmann::json::object();
  const auto names = state_->featurizer->column_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    weights[std::string(names[i])] = state_->weights[i];
  }
  nlohmann::json json = {{"key", class_key_to_json(state_->key)},
                         {"figures", figures_to_json(state_->figures)},
                         {"weights", weights},
                         {"features", state_->featurizer->feature_names()},
                         {"bins", state_->bins.to_json()},
                         {"interval", state_->interval.to_json()},
                         {"size_field", state_->size_field},
                         {"range", state_->range.to_json()},
                         {"points", state_->points.to_json()}};
  if (!state_->derived_from.empty()) json["derived_from"] = state_->derived_from;
  if (!state_->curve.empty()) json["curve"] = state_->curve.to_json();
  if (!state_->trees.empty()) json["trees"] = state_->trees.to_json();
  if (!state_->process.empty()) {
    json["process"] = state_->process.to_json();
    json["process_share"] = state_->process_share;
  }
  return json;
}

Result<ClassModel> ClassModel::from_json(const nlohmann::json& json, const GpuSpec& gpu) {
  return guarded([&] {
    auto state = std::make_unique<State>();
    state->key = class_key_from_json(member(json, "key"));
    state->gpu = gpu;
    state->op = find_operator(state->key.op);
    require(state->op != nullptr, "operator \"" + state->key.op + "\" is not known to this version");
    state->featurizer = make_featurizer(*state->op, gpu, state->key.attributes);
    require(state->featurizer != nullptr, gpu.name + " lacks a figure that " + describe(state->key) + " is made of");
    state->figures = figures_from_json(member(json, "figures"));

    if (json.contains("parts")) {
      read_parts(json["parts"], gpu, *state);
      return ClassModel(std::move(state));
    }
    const nlohmann::json& weights = member(json, "weights");
    const auto columns = state->featurizer->column_names();
    require(weights.is_object() && weights.size() == columns.size(),
            "the columns of " + state->key.op + " have changed since this was fitted: calibrate again");
    for (const std::string_view name : columns) {
      state->weights.push_back(read_number(weights, std::string(name).c_str(), 0.0, 1e30));
    }
    const nlohmann::json& features = member(json, "features");
    const auto names = state->featurizer->feature_names();
    require(features.is_array() && std::equal(features.begin(), features.end(), names.begin(), names.end(),
                                              [](const nlohmann::json& a, std::string_view b) { return a == b; }),
            "the features of " + state->key.op + " have changed since this was fitted: calibrate again");
    state->bins = FeatureBins::from_json(member(json, "bins"));
    require(state->bins.features() == names.size(), "bins that are not those of the features");

    if (json.contains("derived_from")) state->derived_from = read_string(json, "derived_from");
    if (json.contains("curve")) {
      require(state->op->fields().size() == 1, "a curve for shapes of several fields");
      state->curve = Curve::from_json(json["curve"]);
    }
    if (json.contains("trees")) state->trees = TreeEnsemble::from_json(json["trees"], state->bins);
    if (json.contains("process")) {
      state->process = GaussianProcess::from_json(json["process"], names.size());
      state->process_share = read_number(json, "process_share", 0.0, 1.0);
    }
    state->interval = IntervalModel::from_json(member(json, "interval"), state->bins);
    const auto fields = static_cast<std::int64_t>(state->op->fields().size());
    state->size_field = static_cast<std::size_t>(read_integer(json, "size_field", 0, fields - 1));
    state->range = CalibratedRange::from_json(member(json, "range"), *state->op);
    state->points = PointSet::from_json(member(json, "points"), *state->op);
    return ClassModel(std::move(state));
  });
}

}  // namespace roofcal
