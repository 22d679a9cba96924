#include "predictor/predictor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "predictor/resolve.h"

namespace roofcal {
namespace {

// Above this share of the launch column in the physical mean, a call is limited by launching, not by its work.
constexpr double kLatencyShare = 0.5;

std::string attributes_text(const Attributes& attributes) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : attributes) {
    parts.push_back(name + "=" + value);
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

// Classes of one calibrated GPU that may answer, by framework and version.
struct Versions {
  std::map<std::string, std::vector<const ClassModel*>> by_version;
};

struct Candidates {
  std::map<std::string, Versions> by_framework;
  std::map<const ClassModel*, const Calibration*> origin;

  [[nodiscard]] bool empty() const { return by_framework.empty(); }
};

// Whether a class was derived from other operators' measurements, having none of its own.
bool derived(const ClassModel* model) { return !model->derived_from().empty(); }

// Measurements, where there are any, make what was derived without them superfluous.
void prefer_measured(Candidates& candidates) {
  const bool measured = std::ranges::any_of(candidates.origin, [](const auto& entry) { return !derived(entry.first); });
  if (!measured) return;
  for (auto& [framework, versions] : candidates.by_framework) {
    for (auto& [version, models] : versions.by_version) std::erase_if(models, derived);
    std::erase_if(versions.by_version, [](const auto& entry) { return entry.second.empty(); });
  }
  std::erase_if(candidates.by_framework, [](const auto& entry) { return entry.second.by_version.empty(); });
}

Candidates collect(std::span<const Calibration* const> calibrations, const ClassKey& wanted) {
  Candidates found;
  for (const Calibration* calibration : calibrations) {
    for (const ClassModel& model : calibration->models) {
      const ClassKey& key = model.key();
      if (key.gpu != wanted.gpu || key.op != wanted.op || key.attributes != wanted.attributes) continue;
      auto& models = found.by_framework[key.framework].by_version[key.version];
      // Sources come best first: a class that the store holds hides the built-in of the same kernel.
      const bool hidden = std::ranges::any_of(models, [&](const ClassModel* other) {
        return other->key().kernel == key.kernel && other->key().cache == key.cache;
      });
      if (!hidden) {
        models.push_back(&model);
        found.origin.emplace(&model, calibration);
      }
    }
  }
  prefer_measured(found);
  return found;
}

std::string newest(const Versions& versions) {
  const auto& all = versions.by_version;
  return std::ranges::max_element(all,
                                  [](const auto& a, const auto& b) { return compare_versions(a.first, b.first) < 0; })
      ->first;
}

std::vector<std::string> names_of(const std::map<std::string, Versions>& frameworks) {
  std::vector<std::string> names;
  for (const auto& entry : frameworks) {
    names.push_back(entry.first);
  }
  return names;
}

}  // namespace

std::string_view to_string(Provenance provenance) {
  constexpr std::array<std::string_view, kProvenanceCount> names{"measured", "interpolated", "extrapolated",
                                                                 "transferred", "roofline"};
  return names[static_cast<std::size_t>(provenance)];
}

struct Resolution::State {
  const Operator* op = nullptr;
  GpuSpec gpu;
  Attributes attributes;
  CacheMode cache = CacheMode::hot;
  std::string framework, version;
  std::vector<std::string> frameworks;  // that were calibrated
  std::vector<std::string> kernels;
  std::vector<const ClassModel*> models;  // parallel to kernels
  const Dispatch* dispatch = nullptr;     // null: the first kernel answers everything
  std::vector<std::string> warnings;
  bool transferred = false;
  bool cold_from_hot = false;  // asked cold, calibrated hot
  double extra_log_halfwidth = 0.0;
  std::vector<ClassModel> rebound;  // donor models bound to the target GPU (owned), for another GPU's answers

  [[nodiscard]] std::uint16_t kernel_for(const Shape& shape) const {
    if (dispatch == nullptr || kernels.size() == 1) return 0;
    const std::string_view chosen = dispatch->choose(shape);
    const auto found = std::ranges::find(kernels, chosen);
    return found == kernels.end() ? std::uint16_t{0} : static_cast<std::uint16_t>(found - kernels.begin());
  }

  [[nodiscard]] CacheMode estimate_cache(std::uint16_t kernel) const { return models[kernel]->key().cache; }

  void finish(const Shape& shape, const Estimate& estimate, std::uint16_t kernel, Answer& answer) const {
    // The model's bound holds where the question is the one it was calibrated for.
    const Roofline bound =
        estimate_cache(kernel) == cache ? estimate.bound : roofcal::roofline(gpu, op->work(attributes, shape), cache);
    answer.kernel = kernel;
    answer.roofline = bound.time;
    answer.bound = estimate.launch_share > kLatencyShare ? Limit::latency : bound.limit;
    answer.outside_fields = estimate.outside_fields;
    answer.time = estimate.time;
    answer.lo = estimate.lo;
    answer.hi = estimate.hi;
    answer.provenance = estimate.region == Region::outside ? Provenance::extrapolated : Provenance::interpolated;
    if (transferred) {
      answer.provenance = Provenance::transferred;
    } else if (const auto measured = models[kernel]->measured(shape)) {
      answer.provenance = Provenance::measured;
      const double shift = *measured / estimate.time;  // the model's relative interval, about the measured time
      answer.time = *measured;
      answer.lo = estimate.lo * shift;
      answer.hi = estimate.hi * shift;
    }
    if (cold_from_hot) {
      // What waited in L2 now comes from HBM, at best hidden behind the rest, at worst after it.
      const Seconds fetch = std::min(op->work(attributes, shape).bytes(), gpu.l2) / gpu.memory_bandwidth;
      answer.hi = answer.hi + fetch;
      answer.time = answer.time + 0.5 * fetch;
    }
    if (extra_log_halfwidth > 0.0) {
      const double widen = std::exp(extra_log_halfwidth);
      answer.lo = answer.lo / widen;
      answer.hi = answer.hi * widen;
    }
    // A measured time stands as it was measured; everything else keeps to what the hardware allows, or to what it was
    // seen to do where a class beats the bound.
    if (answer.provenance != Provenance::measured) {
      const Seconds least = models[kernel]->figures().least_over_bound * bound.time;
      answer.time = std::max(answer.time, least);
      answer.lo = std::max(answer.lo, least);
      answer.hi = std::max(answer.hi, answer.time);
    }
    answer.lo = std::min(answer.lo, answer.time);
  }
};

Resolution::Resolution(std::unique_ptr<State> state) : state_(std::move(state)) {}
Resolution::~Resolution() = default;
const Operator& Resolution::op() const { return *state_->op; }
const GpuSpec& Resolution::gpu() const { return state_->gpu; }
const std::string& Resolution::framework() const { return state_->framework; }
const std::string& Resolution::version() const { return state_->version; }
std::span<const std::string> Resolution::kernels() const { return state_->kernels; }
bool Resolution::host_bound(std::uint16_t kernel) const { return state_->models[kernel]->figures().host_bound; }
std::span<const std::string> Resolution::frameworks() const { return state_->frameworks; }
std::span<const std::string> Resolution::warnings() const { return state_->warnings; }

void Resolution::predict(std::span<const Shape> shapes, std::span<Answer> out) const {
  // One model call a kernel, so that its shapes are evaluated side by side.
  std::vector<std::uint16_t> kernel(shapes.size());
  std::ranges::transform(shapes, kernel.begin(), [this](const Shape& shape) { return state_->kernel_for(shape); });
  std::vector<Shape> some;
  std::vector<Estimate> estimates(shapes.size());
  if (state_->kernels.size() == 1) {
    state_->models.front()->predict(shapes, estimates);
  } else {
    std::vector<std::size_t> where;
    std::vector<Estimate> part;
    for (std::uint16_t k = 0; k < state_->kernels.size(); ++k) {
      some.clear();
      where.clear();
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (kernel[i] == k) {
          some.push_back(shapes[i]);
          where.push_back(i);
        }
      }
      if (some.empty()) continue;
      part.resize(some.size());
      state_->models[k]->predict(some, part);
      for (std::size_t i = 0; i < where.size(); ++i) {
        estimates[where[i]] = part[i];
      }
    }
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    state_->finish(shapes[i], estimates[i], kernel[i], out[i]);
  }
}

Answer Resolution::predict(const Shape& shape) const {
  const std::uint16_t kernel = state_->kernel_for(shape);
  Answer answer;
  state_->finish(shape, state_->models[kernel]->predict(shape), kernel, answer);
  return answer;
}

std::vector<std::string> Resolution::warnings(const Shape& shape, const Answer& answer) const {
  std::vector<std::string> out;
  const ClassModel& model = *state_->models[answer.kernel];
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if ((answer.outside_fields >> i & 1U) == 0) continue;
    const Field& field = state_->op->fields()[i];
    const auto range = model.calibrated_range(i);
    out.push_back(fmt::format("{} = {} lies outside the calibrated {} .. {}", field.name, print_field(field, shape[i]),
                              print_field(field, range.min), print_field(field, range.max)));
  }
  if (model.figures().host_bound) {
    out.push_back(fmt::format("kernel {} was timed while the host, not the GPU, set the pace: its floor is the host's",
                              state_->kernels[answer.kernel]));
  }
  if (answer.time < answer.roofline) {
    out.push_back(fmt::format(
        "kernel {} was measured up to {:.0f} % faster than the roofline allows: its operands may have been in L2",
        state_->kernels[answer.kernel], 100.0 * (1.0 - model.figures().least_over_bound)));
  }
  return out;
}

std::vector<Neighbour> Resolution::nearest(const Shape& shape, const Answer& answer, std::size_t count) const {
  return state_->models[answer.kernel]->nearest(shape, count);
}

Predictor::Predictor(const GpuCatalogue& catalogue, const CalibrationSource& calibrations)
    : catalogue_(catalogue), calibrations_(calibrations) {}

namespace {

Error unknown_gpu(const GpuCatalogue& catalogue, std::string_view name) {
  const auto close = catalogue.suggestions(name);
  return Error{
      ErrorCode::usage,
      close.empty()
          ? fmt::format("GPU '{}' is not in the catalogue; `roofcal gpu list` shows it, `roofcal gpu add` adds one",
                        name)
          : fmt::format("GPU '{}' is not in the catalogue; did you mean {}?", name, fmt::join(close, " or "))};
}

// What there is instead: for the exit-3 message.
std::string what_there_is(std::span<const ClassKey> available, std::string_view op, std::string_view gpu) {
  std::set<std::string> here;
  std::set<std::string> elsewhere;
  for (const ClassKey& key : available) {
    if (key.op != op) continue;
    (key.gpu == gpu ? here : elsewhere)
        .insert(key.gpu == gpu ? attributes_text(key.attributes) : key.gpu + " " + attributes_text(key.attributes));
  }
  if (!here.empty()) return fmt::format("calibrated on {}: {}", gpu, fmt::join(here, ", "));
  if (!elsewhere.empty()) return fmt::format("calibrated elsewhere: {}", fmt::join(elsewhere, ", "));
  std::set<std::string> operators;
  for (const ClassKey& key : available) {
    operators.insert(key.op);
  }
  if (operators.empty()) return "there is no calibration at all; `roofcal import` then `roofcal calibrate` makes one";
  return fmt::format("calibrated operators: {}", fmt::join(operators, ", "));
}

// The closest calibrated GPU for an operator with these attributes; empty when there is none.
std::string donor_for(const GpuCatalogue& catalogue, std::span<const ClassKey> available, const ClassKey& wanted,
                      const GpuSpec& target, Rate rate) {
  std::string best;
  double best_distance = 0.0;
  for (const ClassKey& key : available) {
    if (key.op != wanted.op || key.attributes != wanted.attributes || key.gpu == wanted.gpu) continue;
    const GpuSpec* spec = catalogue.spec(key.gpu);
    if (spec == nullptr) continue;
    const double distance = transfer_distance(*spec, target, rate);
    if (best.empty() || distance < best_distance) {
      best = key.gpu;
      best_distance = distance;
    }
  }
  return best;
}

Rate rate_of(const Attributes& attributes) {
  const auto dtype = attributes.find("dtype");
  const DType* known = dtype == attributes.end() ? nullptr : find_dtype(dtype->second);
  return known == nullptr ? Rate::bfloat16 : known->rate;
}

}  // namespace

Result<const GpuSpec*> Predictor::gpu(std::string_view name) const {
  const GpuSpec* spec = catalogue_.spec(name);
  if (spec == nullptr) return unknown_gpu(catalogue_, name);
  return spec;
}

Result<std::shared_ptr<const Resolution>> Predictor::resolve(const Question& question) const {
  const Operator* op = find_operator(question.op);
  if (op == nullptr) {
    return Error{ErrorCode::usage, fmt::format("operator '{}' is not known", question.op)};
  }
  const auto known = gpu(question.gpu);
  if (!known) return known.error();
  const GpuSpec* target = *known;
  const Rate rate = rate_of(question.attributes);
  if (!target->has(rate)) {
    return Error{ErrorCode::not_calibrated,
                 fmt::format("{} has no {} arithmetic in its datasheet: {} cannot run there as asked", target->name,
                             to_string(rate), attributes_text(question.attributes))};
  }

  ClassKey wanted;
  wanted.op = question.op;
  wanted.gpu = target->name;
  wanted.attributes = question.attributes;

  auto state = std::make_unique<Resolution::State>();
  state->op = op;
  state->gpu = *target;
  state->attributes = question.attributes;
  state->cache = question.cache;

  auto found = calibrations_.find(wanted.gpu, wanted.op, wanted.attributes);
  if (!found) return found.error();
  Candidates candidates = collect(*found, wanted);

  std::string donor;
  if (candidates.empty()) {
    const auto available = calibrations_.available();
    if (!available) return available.error();
    const bool other_attributes_here = std::ranges::any_of(
        *available, [&](const ClassKey& key) { return key.gpu == wanted.gpu && key.op == wanted.op; });
    // A GPU with other dtypes calibrated is no reason to take another GPU's numbers for this one in silence; a GPU
    // without any calibration of the operator is.
    donor = other_attributes_here ? "" : donor_for(catalogue_, *available, wanted, *target, rate);
    if (donor.empty()) {
      return Error{ErrorCode::not_calibrated,
                   fmt::format("{} {} is not calibrated for {}; {}", wanted.op, attributes_text(wanted.attributes),
                               wanted.gpu, what_there_is(*available, wanted.op, wanted.gpu))};
    }
    wanted.gpu = donor;
    found = calibrations_.find(wanted.gpu, wanted.op, wanted.attributes);
    if (!found) return found.error();
    candidates = collect(*found, wanted);
    if (candidates.empty()) {
      return Error{ErrorCode::bad_data,
                   fmt::format("the calibration of {} names {} but holds no class of it", donor, wanted.op)};
    }
    state->transferred = true;
    const GpuSpec& donor_spec = *catalogue_.spec(donor);
    state->extra_log_halfwidth = transfer_log_halfwidth(donor_spec, *target);
    state->warnings.push_back(
        fmt::format("{} is not calibrated for {}: carried over from {} by its physical terms, interval widened by a "
                    "factor of {:.2f}",
                    target->name, wanted.op, donor, std::exp(state->extra_log_halfwidth)));
  }

  const auto frameworks = names_of(candidates.by_framework);
  state->frameworks = frameworks;
  state->framework = question.framework.empty() ? preferred_framework(frameworks) : question.framework;
  if (!candidates.by_framework.contains(state->framework)) {
    const std::string stand_in = preferred_framework(frameworks);
    state->transferred = true;
    state->warnings.push_back(fmt::format("framework {} is not calibrated: {} answers (there is {})",
                                          question.framework, stand_in, fmt::join(frameworks, ", ")));
    state->framework = stand_in;
  }
  const Versions& versions = candidates.by_framework.at(state->framework);
  state->version = question.version.empty() ? newest(versions) : question.version;
  if (!versions.by_version.contains(state->version)) {
    const std::string stand_in = newest(versions);
    std::vector<std::string> there;
    std::ranges::transform(versions.by_version, std::back_inserter(there), [](const auto& v) { return v.first; });
    state->transferred = true;
    state->warnings.push_back(fmt::format("{} version {} is not calibrated: {} answers (there is {})", state->framework,
                                          question.version, stand_in, fmt::join(there, ", ")));
    state->version = stand_in;
  }

  std::vector<const ClassModel*> models = versions.by_version.at(state->version);
  const bool same_mode =
      std::ranges::any_of(models, [&](const ClassModel* m) { return m->key().cache == question.cache; });
  const CacheMode mode = same_mode ? question.cache : models.front()->key().cache;
  std::erase_if(models, [mode](const ClassModel* m) { return m->key().cache != mode; });
  if (!same_mode) {
    state->transferred = true;
    state->cold_from_hot = question.cache == CacheMode::cold;
    state->warnings.push_back(fmt::format(
        "calibrated with a {} L2 only: {}", to_string(mode),
        state->cold_from_hot ? "the operands' way from HBM is added as a bound allows" : "a hot call may be faster"));
  }

  if (!question.kernel.empty()) {
    std::vector<const ClassModel*> forced = models;
    std::erase_if(forced, [&](const ClassModel* m) { return m->key().kernel != question.kernel; });
    if (forced.empty()) {
      std::vector<std::string> there;
      std::ranges::transform(models, std::back_inserter(there), [](const ClassModel* m) { return m->key().kernel; });
      state->transferred = true;
      state->warnings.push_back(
          fmt::format("kernel {} is not calibrated for {} {}: the learned choice answers (there is {})",
                      question.kernel, state->framework, state->version, fmt::join(there, ", ")));
    } else {
      models = std::move(forced);
    }
  }
  std::ranges::sort(models, {}, [](const ClassModel* m) { return std::string_view(m->key().kernel); });
  for (const ClassModel* model : models) {
    state->kernels.push_back(model->key().kernel);
  }

  if (derived(models.front())) {
    state->transferred = true;
    state->warnings.push_back(fmt::format("{} was never timed on {}: derived from {}", wanted.op, wanted.gpu,
                                          models.front()->derived_from()));
  }

  if (models.size() > 1) {
    ClassKey group = models.front()->key();
    group.kernel.clear();
    // The calibration that was preferred for the models also knows their dispatch.
    for (const Calibration* calibration : *found) {
      if (const auto entry = calibration->dispatch.find(group); entry != calibration->dispatch.end()) {
        state->dispatch = &entry->second;
        break;
      }
    }
    if (state->dispatch == nullptr) {
      return Error{
          ErrorCode::bad_data,
          fmt::format("{} {} {} has {} kernels but no dispatch between them: calibrate again, or "
                      "choose one with --kernel ({})",
                      wanted.gpu, state->framework, state->version, models.size(), fmt::join(state->kernels, ", "))};
    }
  }

  if (!donor.empty()) {
    for (const ClassModel* model : models) {
      auto moved = ClassModel::from_json(model->to_json(), *target);
      if (!moved) return moved.error();
      state->rebound.push_back(*std::move(moved));
    }
    for (const ClassModel& model : state->rebound) {
      state->models.push_back(&model);
    }
  } else {
    state->models = std::move(models);
  }
  return std::shared_ptr<const Resolution>(std::make_shared<Resolution>(std::move(state)));
}

}  // namespace roofcal
