#include "benchmarks/accuracy/beyond.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "calibrate/fit.h"
#include "calibrate/point_set.h"

namespace roofcal::accuracy {
namespace {

constexpr double kOctavesCut = 2.0;
constexpr std::size_t kFewestSizes = 4;
constexpr std::size_t kFewestRows = 20;   // on either side, for a trial to say something
constexpr std::size_t kRowsJudged = 2000;

// The outermost size that stays when one end of ascending `sizes` is cut off.
std::optional<std::int64_t> last_kept(const Field& field, std::vector<std::int64_t> sizes, bool above) {
  if (sizes.size() < kFewestSizes || (!above && sizes.front() == 0)) return std::nullopt;
  if (!above) std::ranges::reverse(sizes);
  const double end = shape_coordinate(field, sizes.back());
  std::size_t kept = sizes.size() - 1;  // sizes that stay
  while (kept > (sizes.size() + 1) / 2 && std::abs(end - shape_coordinate(field, sizes[kept - 1])) < kOctavesCut) {
    --kept;
  }
  return sizes[kept - 1];
}

BeyondRow judge_row(const Sample& sample, const Estimate& estimate, double octaves) {
  BeyondRow row;
  row.octaves = octaves;
  row.error = std::abs(estimate.time / sample.time - 1.0);
  row.covered = estimate.lo <= sample.time && sample.time <= estimate.hi;
  const double deviation = std::log(sample.time / estimate.time);
  const double side =
      (deviation > 0.0 ? std::log(estimate.hi / estimate.time) : std::log(estimate.time / estimate.lo)) -
      estimate.widening;
  row.needed = std::max(0.0, std::abs(deviation) - std::max(0.0, side)) / octaves;
  return row;
}

Result<std::optional<BeyondTrial>> try_end(const ClassData& data, const GpuSpec& gpu, std::size_t points,
                                           std::size_t field_index, bool above) {
  const Field& field = find_operator(data.key.op)->fields()[field_index];
  std::vector<std::int64_t> sizes;
  for (const Sample& sample : data.pool) sizes.push_back(sample.shape[field_index]);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const auto end = last_kept(field, sizes, above);
  if (!end) return std::optional<BeyondTrial>();

  std::vector<Sample> seen;
  std::vector<Sample> beyond;
  for (const Sample& sample : data.pool) {
    const std::int64_t size = sample.shape[field_index];
    ((above ? size <= *end : size >= *end) ? seen : beyond).push_back(sample);
  }
  if (seen.size() < kFewestRows && find_operator(data.key.op)->fields().size() > 1) return std::optional<BeyondTrial>();
  FitOptions options;
  options.points = points;
  const auto model = fit_class(data.key, gpu, seen, options);
  if (!model) return model.error();

  BeyondTrial trial{data.key, std::string(field.name), above, {}};
  const std::size_t step = std::max<std::size_t>(1, beyond.size() / kRowsJudged);
  for (std::size_t i = 0; i < beyond.size(); i += step) {
    const Estimate estimate = model->predict(beyond[i].shape);
    // Where the other fields lie outside, too, the cost is not this field's alone.
    if (estimate.outside_fields != 1U << field_index) continue;
    const double octaves =
        std::abs(shape_coordinate(field, beyond[i].shape[field_index]) - shape_coordinate(field, *end));
    trial.rows.push_back(judge_row(beyond[i], estimate, octaves));
  }
  if (trial.rows.empty()) return std::optional<BeyondTrial>();
  return std::optional(std::move(trial));
}

// Means over the classes of one line of the table.
struct Line {
  std::size_t classes = 0;
  double near = 0.0, near_classes = 0.0, far = 0.0, far_classes = 0.0, coverage = 0.0;
  std::vector<std::pair<double, double>> needed;  // value, weight

  void add(const BeyondTrial& trial) {
    double near_sum = 0.0, near_n = 0.0, far_sum = 0.0, far_n = 0.0, hits = 0.0;
    const auto n = static_cast<double>(trial.rows.size());
    for (const BeyondRow& row : trial.rows) {
      (row.octaves <= 1.0 ? near_sum : far_sum) += row.error;
      (row.octaves <= 1.0 ? near_n : far_n) += 1.0;
      hits += row.covered ? 1.0 : 0.0;
      needed.emplace_back(row.needed, 1.0 / n);
    }
    ++classes;
    coverage += hits / n;
    if (near_n > 0.0) near += near_sum / near_n, near_classes += 1.0;
    if (far_n > 0.0) far += far_sum / far_n, far_classes += 1.0;
  }

  // What covers nine tenths of the rows.
  [[nodiscard]] double cost() {
    std::ranges::sort(needed);
    double weight = 0.0;
    for (const auto& [value, share] : needed) {
      weight += share;
      if (weight >= 0.9 * static_cast<double>(classes)) return value;
    }
    return needed.back().first;
  }
};

std::string mean_percent(double sum, double n) { return n > 0.0 ? fmt::format("{:.1f}", 100.0 * sum / n) : "-"; }

}  // namespace

Result<std::vector<BeyondTrial>> try_beyond(const ClassData& data, const GpuSpec& gpu, std::size_t points) {
  std::vector<BeyondTrial> trials;
  for (std::size_t field = 0; field < data.pool.front().shape.size(); ++field) {
    for (const bool above : {false, true}) {
      auto trial = try_end(data, gpu, points, field, above);
      if (!trial) return trial.error();
      if (*trial) trials.push_back(**std::move(trial));
    }
  }
  return trials;
}

std::vector<const ClassData*> classes_to_try(const std::vector<ClassData>& classes, std::size_t least_rows) {
  std::map<std::tuple<std::string, std::string, std::string>, const ClassData*> largest;
  std::vector<const ClassData*> chosen;
  for (const ClassData& data : classes) {
    if (find_operator(data.key.op)->fields().size() == 1) {
      if (data.pool.size() >= kFewestSizes) chosen.push_back(&data);
      continue;
    }
    if (data.pool.size() < least_rows) continue;
    const ClassData*& best = largest[{data.key.op, data.key.gpu, data.key.framework}];
    if (best == nullptr || data.pool.size() > best->pool.size()) best = &data;
  }
  for (const auto& entry : largest) chosen.push_back(entry.second);
  return chosen;
}

std::string beyond_markdown(const std::vector<BeyondTrial>& trials, std::size_t points) {
  std::map<std::tuple<std::string, std::string, bool>, Line> lines;
  for (const BeyondTrial& trial : trials) lines[{trial.key.op, trial.field, trial.above}].add(trial);
  std::string out = fmt::format(R"(
## Beyond the calibrated range

About two octaves at one end of a field's range (at most half of its sizes) were cut off, {} of the remaining shapes fitted, and what was
cut off predicted: the largest class of each operator, GPU and framework, all collectives, each weighing alike. MAPE within an octave of
the range and farther out; coverage of the interval as it is widened outside. Needed: what one octave must add to both sides of the
interval of log t for it to hold nine tenths of these rows; the featurizers' hints hold these figures, rounded.

| operator | field | end | classes | MAPE, one octave | farther | coverage | needed an octave |
|---|---|---|---|---|---|---|---|
)",
                                points);
  for (auto& [name, line] : lines) {
    const auto& [op, field, above] = name;
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:.3f} |\n", op, field, above ? "above" : "below",
                       line.classes, mean_percent(line.near, line.near_classes),
                       mean_percent(line.far, line.far_classes),
                       mean_percent(line.coverage, static_cast<double>(line.classes)), line.cost());
  }
  return out;
}

}  // namespace roofcal::accuracy
