#include "benchmarks/accuracy/experiment.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "benchmarks/accuracy/baselines.h"
#include "calibrate/fit.h"

namespace roofcal::accuracy {
namespace {

// Nearest neighbours cost a scan a row: on large held-out sets an even sample of the rows is judged.
constexpr std::size_t kRowsForBaselines = 2000;

Figures judge(const Baseline& baseline, std::span<const Sample> rows) {
  const std::size_t step = std::max<std::size_t>(1, rows.size() / kRowsForBaselines);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < rows.size(); i += step) {
    pairs.push_back({rows[i].shape, rows[i].time.value(), baseline(rows[i].shape), 0.0, 0.0});
  }
  return figures(pairs);
}

Figures judge(const ClassModel& model, std::span<const Sample> rows) {
  std::vector<Shape> shapes;
  std::ranges::transform(rows, std::back_inserter(shapes), &Sample::shape);
  std::vector<Estimate> estimates(shapes.size());
  model.predict(shapes, estimates);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    pairs.push_back({rows[i].shape, rows[i].time.value(), estimates[i].time.value(), estimates[i].lo.value(),
                     estimates[i].hi.value()});
  }
  return figures(pairs);
}

}  // namespace

Result<Setting> parse_setting(const std::string& text) {
  if (text == "all") return Setting{text, std::nullopt, false};
  if (text == "built-in") return Setting{text, std::nullopt, true};
  std::size_t points = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), points);
  if (failure != std::errc{} || stop != text.data() + text.size() || points == 0) {
    return Error{ErrorCode::usage, "--points '" + text + "' is neither a count, nor all, nor built-in"};
  }
  return Setting{text, points, false};
}

std::vector<Setting> usual_settings(const std::string& op) {
  std::vector<std::string> names{"100", "200", "1000", "built-in"};
  if (op == "gemm") names = {"300", "1000", "all", "built-in"};
  if (op == "context_mla" || op == "generation_mla") names = {"100", "200", "500", "built-in"};
  if (find_operator(op)->fields().size() == 1) names = {"8", "11", "built-in"};
  std::vector<Setting> settings;
  for (const std::string& name : names) settings.push_back(*parse_setting(name));
  return settings;
}

Result<Outcome> run(const ClassData& data, const GpuSpec& gpu, const Setting& setting, std::uint64_t seeds) {
  Outcome outcome;
  outcome.key = data.key;
  outcome.setting = setting.name;
  std::vector<Figures> runs;
  // Where every point is fitted, a seed only changes the folds: one run says it.
  if (!setting.points) seeds = 1;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    FitOptions options;
    options.points = setting.points;
    options.compact = setting.compact;
    options.publish_times = !setting.compact;
    options.seed = seed;
    const auto start = std::chrono::steady_clock::now();
    const auto model = fit_class(data.key, gpu, data.pool, options);
    if (!model) return model.error();
    outcome.fit_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(seeds);
    outcome.points = model->figures().points;
    runs.push_back(judge(*model, data.held_out));
  }
  outcome.roofcal = mean(runs);

  // The baselines get as many points, chosen as the first seed's; the grid, a regular sub-grid of as many.
  std::vector<Sample> points = data.pool;
  if (setting.points && outcome.points < data.pool.size()) {
    points.clear();
    for (const std::size_t i : select_points(data.key, gpu, data.pool, outcome.points, Selection::spread, 1)) {
      points.push_back(data.pool[i]);
    }
  }
  const auto grid = sub_grid(data.pool, setting.points ? outcome.points : data.pool.size());
  outcome.grid_points = grid.size();
  outcome.roofline = judge(plain_roofline(data.key, gpu), data.held_out);
  outcome.constant = judge(constant_efficiency(data.key, gpu, points), data.held_out);
  outcome.neighbours = judge(nearest_five(points), data.held_out);
  outcome.grid = judge(grid_interpolation(grid), data.held_out);
  return outcome;
}

}  // namespace roofcal::accuracy
