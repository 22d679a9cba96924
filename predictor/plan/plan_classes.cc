#include "predictor/plan/plan_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "calibrate/featurizer.h"
#include "calibrate/plan/hull.h"
#include "core/roofline.h"

namespace roofcal {
namespace {

constexpr std::size_t kShapesOfAHull = 4000;

// Operator, attributes and cache mode of the classes to plan for, with the calls asked for; none: their hull.
using Wanted = std::map<ClassKey, std::vector<WeightedCall>>;

Wanted wanted_classes(const PlanQuestion& question, std::span<const ClassKey> available) {
  Wanted wanted;
  const auto key_of = [&](const std::string& op, const Attributes& attributes, CacheMode cache) {
    ClassKey key;
    key.op = op;
    key.gpu = question.gpu.name;
    key.attributes = attributes;
    key.cache = cache;
    return key;
  };
  if (!question.calls.empty()) {
    for (const WeightedCall& call : question.calls) {
      if (!question.op.empty() && call.op != question.op) continue;
      wanted[key_of(call.op, call.attributes, call.cache)].push_back(call);
    }
    return wanted;
  }
  std::set<std::string> calibrated_here;
  for (const ClassKey& key : available) {
    if (key.gpu == question.gpu.name) calibrated_here.insert(key.op);
  }
  for (const ClassKey& key : available) {
    if (!question.op.empty() && key.op != question.op) continue;
    if (key.gpu != question.gpu.name && calibrated_here.contains(key.op)) continue;
    wanted[key_of(key.op, key.attributes, CacheMode::hot)];
  }
  return wanted;
}

// Every calibrated shape of the kernels that answer. A model may hold several parts, of which a probe sees one: probes
// lie at the corners of what is known.
std::vector<Shape> known_shapes(const Resolution& resolution) {
  const auto fields = resolution.op().fields();
  Shape low(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) low[i] = std::max<std::int64_t>(fields[i].min, 1);
  std::set<Shape> known;
  for (std::uint16_t kernel = 0; kernel < resolution.kernels().size(); ++kernel) {
    Answer answer;
    answer.kernel = kernel;
    const auto probe = [&](const Shape& at) {
      for (const Neighbour& near : resolution.nearest(at, answer, std::numeric_limits<std::size_t>::max())) {
        known.insert(near.shape);
      }
    };
    probe(low);
    Shape high = low;
    for (const Shape& shape : known) {
      for (std::size_t i = 0; i < fields.size(); ++i) high[i] = std::max(high[i], shape[i]);
    }
    probe(high);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Shape corner = low;
      corner[i] = high[i];
      probe(corner);
    }
  }
  return {known.begin(), known.end()};
}

// What the store holds of a class, and how good a model of it is, where there is one.
struct Measured {
  std::vector<Shape> shapes;
  std::optional<double> error;
};

Result<Measured> measured_of(const CalibrationSource& calibrations, const Store* store, const ClassKey& key,
                             const std::string& framework) {
  Measured out;
  if (store == nullptr) return out;
  ClassFilter filter;
  filter.gpu = key.gpu;
  filter.op = key.op;
  filter.framework = framework;
  const auto classes = store->classes(filter);
  if (!classes) return classes.error();
  std::set<Shape> shapes;
  for (const ClassSummary& summary : *classes) {
    if (summary.key.attributes != key.attributes || summary.key.cache != key.cache) continue;
    const auto samples = store->samples(summary.key);
    if (!samples) return samples.error();
    for (const Sample& sample : *samples) shapes.insert(sample.shape);
  }
  out.shapes.assign(shapes.begin(), shapes.end());
  if (shapes.empty()) return out;
  const auto found = calibrations.find(key.gpu, key.op, key.attributes);
  if (!found) return found.error();
  double sum = 0.0;
  double points = 0.0;
  for (const Calibration* calibration : *found) {
    if (calibration->origin != "store") continue;
    for (const ClassModel& model : calibration->models) {
      if (model.key().attributes != key.attributes || model.key().cache != key.cache) continue;
      if (!framework.empty() && model.key().framework != framework) continue;
      const auto count = static_cast<double>(model.figures().points);
      sum += count * model.figures().mape;
      points += count;
    }
  }
  if (points > 0.0) out.error = sum / points;
  return out;
}

std::vector<PlanClass::Candidate> candidates_of(const ClassKey& key, const GpuSpec& gpu, const Resolution* resolution,
                                                const std::vector<Shape>& shapes) {
  std::vector<PlanClass::Candidate> out;
  std::vector<Answer> answers(shapes.size());
  if (resolution != nullptr) resolution->predict(shapes, answers);
  const Operator& op = *find_operator(key.op);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Seconds likely =
        resolution != nullptr ? answers[i].time : roofline(gpu, op.work(key.attributes, shapes[i]), key.cache).time;
    out.push_back({shapes[i], likely});
  }
  return out;
}

}  // namespace

Result<PlanClasses> plan_classes(const Predictor& predictor, const CalibrationSource& calibrations, const Store* store,
                                 const PlanQuestion& question) {
  PlanClasses out;
  std::set<std::string> said;
  const auto warn = [&](std::string warning) {
    if (said.insert(warning).second) out.warnings.push_back(std::move(warning));
  };
  const auto available = calibrations.available();
  if (!available) return available.error();
  double total_weight = 0.0;
  for (const auto& [key, calls] : wanted_classes(question, *available)) {
    const Operator& op = *find_operator(key.op);
    Question asked;
    asked.gpu = question.gpu.name;
    asked.op = key.op;
    asked.attributes = key.attributes;
    asked.framework = question.framework;
    asked.cache = key.cache;
    auto resolved = predictor.resolve(asked);
    if (!resolved && resolved.error().code != ErrorCode::not_calibrated) return resolved.error();
    const Resolution* resolution = resolved ? resolved->get() : nullptr;
    // Another framework's classes are not what was asked for, but its times are better than none.
    if (calls.empty() &&
        (resolution == nullptr || (!question.framework.empty() && resolution->framework() != question.framework))) {
      continue;
    }
    if (make_featurizer(op, question.gpu, key.attributes) == nullptr) {
      warn(fmt::format("{}: left out: {} has no such arithmetic, or the catalogue lacks a figure that its model needs",
                       describe(key), question.gpu.name));
      continue;
    }
    if (resolution == nullptr)
      warn(fmt::format("{}: not calibrated: its likely times are the roofline's", describe(key)));

    PlanClass what;
    what.key = key;
    what.gpu = question.gpu;
    if (resolution != nullptr && calls.empty()) what.key.framework = resolution->framework();
    const auto measured = measured_of(calibrations, store, key, question.framework);
    if (!measured) return measured.error();
    what.measured = measured->shapes;
    what.error = measured->error;
    std::vector<Shape> shapes;
    what.weight = 0.0;
    if (calls.empty()) {
      shapes =
          shapes_of_hull(op, key.attributes, question.gpu, known_shapes(*resolution), kShapesOfAHull, question.seed);
      for (const Shape& shape : shapes) what.targets.push_back({shape, 1.0});
      what.weight = 1.0;
    } else {
      std::map<Shape, double> weights;
      for (const WeightedCall& call : calls) weights[call.shape] += call.weight;
      for (const auto& [shape, weight] : weights) {
        shapes.push_back(shape);
        what.targets.push_back({shape, weight});
        what.weight += weight;
      }
    }
    if (shapes.empty()) continue;
    what.candidates = candidates_of(key, question.gpu, resolution, shapes);
    total_weight += what.weight;
    out.classes.push_back(std::move(what));
  }
  if (out.classes.empty()) {
    return Error{ErrorCode::not_calibrated,
                 fmt::format("nothing calibrated says which shapes of {} matter on {}{}; --shapes FILE lists them",
                             question.op.empty() ? "any operator" : question.op, question.gpu.name,
                             question.framework.empty() ? "" : fmt::format(" with framework {}", question.framework))};
  }
  for (PlanClass& what : out.classes) what.weight /= total_weight;
  return out;
}

}  // namespace roofcal
