#include "benchmarks/plan/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "calibrate/fit.h"
#include "calibrate/plan/plan.h"
#include "calibrate/random.h"
#include "core/roofline.h"

namespace roofcal::plan_replay {
namespace {

using accuracy::ClassData;
using Points = std::vector<std::size_t>;  // indices into a pool

double cost_of(const Replay& replay, const ClassData& data, std::size_t point) {
  return replay.cost.of(data.pool[point].time).value();
}

double total_cost(const Replay& replay, const ClassData& data, const Points& points) {
  double sum = 0.0;
  for (const std::size_t point : points) sum += cost_of(replay, data, point);
  return sum;
}

Seconds bound_of(const ClassData& data, const GpuSpec& gpu, const Shape& shape) {
  return roofline(gpu, find_operator(data.key.op)->work(data.key.attributes, shape), data.key.cache).time;
}

std::vector<Estimate> estimates(const ClassModel& model, const std::vector<Sample>& rows) {
  std::vector<Shape> shapes;
  for (const Sample& row : rows) shapes.push_back(row.shape);
  std::vector<Estimate> out(shapes.size());
  model.predict(shapes, out);
  return out;
}

// Calls `task` for 0 .. count - 1 on several threads. The first failure.
template <class Task>
Result<void> in_parallel(unsigned threads, std::size_t count, Task task) {
  std::atomic<std::size_t> next{0};
  std::mutex guard;
  std::optional<Error> failure;
  {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (std::size_t i = next++; i < count; i = next++) {
          const Result<void> done = task(i);
          if (done) continue;
          const std::scoped_lock lock(guard);
          if (!failure) failure = done.error();
          next = count;
        }
      });
    }
  }
  return failure ? Result<void>(*failure) : Result<void>();
}

// A model of each class's points, none where there are no points, and what it comes to.
struct Fitted {
  std::vector<std::optional<ClassModel>> models;
  std::vector<ClassOutcome> outcomes;
};

Result<Fitted> fit_all(const Replay& replay, const std::vector<Points>& points, std::uint64_t seed) {
  Fitted fitted;
  fitted.models.resize(points.size());
  fitted.outcomes.resize(points.size());
  const auto done = in_parallel(replay.threads, points.size(), [&](std::size_t i) -> Result<void> {
    const ClassData& data = *replay.classes[i];
    const GpuSpec& gpu = *replay.catalogue->spec(data.key.gpu);
    ClassOutcome& outcome = fitted.outcomes[i];
    outcome.points = points[i].size();
    outcome.seconds = total_cost(replay, data, points[i]);
    double sum = 0.0;
    if (points[i].empty()) {
      // Nothing was measured: the bound is all there is to say.
      for (const Sample& row : data.held_out) sum += std::abs(bound_of(data, gpu, row.shape) / row.time - 1.0);
    } else {
      std::vector<Sample> samples;
      for (const std::size_t point : points[i]) samples.push_back(data.pool[point]);
      FitOptions options;
      options.seed = seed;
      auto model = fit_class(data.key, gpu, samples, options);
      if (!model) return model.error();
      const auto told = estimates(*model, data.held_out);
      for (std::size_t row = 0; row < told.size(); ++row) {
        sum += std::abs(told[row].time / data.held_out[row].time - 1.0);
      }
      fitted.models[i].emplace(*std::move(model));
    }
    outcome.mape = sum / static_cast<double>(data.held_out.size());
    return {};
  });
  if (!done) return done.error();
  return fitted;
}

// Seconds for each class: alike, but no class gets more than measuring all of it costs.
std::vector<double> equal_shares(const Replay& replay, double budget) {
  std::vector<double> all;
  for (const ClassData* data : replay.classes) {
    Points everything(data->pool.size());
    std::iota(everything.begin(), everything.end(), std::size_t{0});
    all.push_back(total_cost(replay, *data, everything));
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return all[i]; });
  std::vector<double> shares(all.size());
  double left = budget;
  for (std::size_t i = 0; i < order.size(); ++i) {
    shares[order[i]] = std::min(all[order[i]], left / static_cast<double>(order.size() - i));
    left -= shares[order[i]];
  }
  return shares;
}

Points random_points(const Replay& replay, const ClassData& data, double seconds, std::uint64_t seed) {
  Points order(data.pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  random.shuffle(order);
  Points points;
  for (const std::size_t point : order) {
    seconds -= cost_of(replay, data, point);
    if (seconds < 0.0) break;
    points.push_back(point);
  }
  return points;
}

// As many points as the seconds allow.
Points spread_points(const Replay& replay, const ClassData& data, double seconds, std::uint64_t seed) {
  const GpuSpec& gpu = *replay.catalogue->spec(data.key.gpu);
  const auto select = [&](std::size_t count) {
    return select_points(data.key, gpu, data.pool, count, Selection::spread, seed);
  };
  const double cheapest = replay.cost.of(Seconds(0.0)).value();
  std::size_t enough = 0;
  std::size_t too_many = std::min(data.pool.size(), static_cast<std::size_t>(seconds / cheapest)) + 1;
  while (enough + 1 < too_many) {
    const std::size_t count = (enough + too_many) / 2;
    (total_cost(replay, data, select(count)) <= seconds ? enough : too_many) = count;
  }
  return enough == 0 ? Points() : select(enough);
}

std::vector<Points> pooled_random(const Replay& replay, double budget, std::uint64_t seed) {
  std::vector<std::pair<std::size_t, std::size_t>> all;  // class, point
  for (std::size_t i = 0; i < replay.classes.size(); ++i) {
    for (std::size_t point = 0; point < replay.classes[i]->pool.size(); ++point) all.emplace_back(i, point);
  }
  Random random(seed);
  random.shuffle(all);
  std::vector<Points> points(replay.classes.size());
  for (const auto& [i, point] : all) {
    budget -= cost_of(replay, *replay.classes[i], point);
    if (budget < 0.0) break;
    points[i].push_back(point);
  }
  return points;
}

// Plans what is left of the budget and pays for it in the plan's order, until nothing more fits.
Result<void> measure_by_plan(const Replay& replay, const Fitted& known, double budget, std::uint64_t seed,
                             std::vector<Points>& points, double& spent) {
  while (true) {
    std::vector<PlanClass> classes;
    for (std::size_t i = 0; i < replay.classes.size(); ++i) {
      const ClassData& data = *replay.classes[i];
      const GpuSpec& gpu = *replay.catalogue->spec(data.key.gpu);
      PlanClass& what = classes.emplace_back();
      what.key = data.key;
      what.gpu = gpu;
      for (const std::size_t point : points[i]) what.measured.push_back(data.pool[point].shape);
      std::vector<Estimate> told;
      if (!known.models.empty() && known.models[i]) {
        told = estimates(*known.models[i], data.pool);
        what.error = known.models[i]->figures().mape;
      }
      for (std::size_t point = 0; point < data.pool.size(); ++point) {
        const Shape& shape = data.pool[point].shape;
        what.candidates.push_back({shape, told.empty() ? bound_of(data, gpu, shape) : told[point].time});
        what.targets.push_back({shape, 1.0});
      }
    }
    const auto plan = make_plan(classes, Seconds(budget - spent), replay.cost, seed, {});
    if (!plan) return plan.error();
    std::size_t measured = 0;
    for (const PlanChoice& choice : plan->choices) {
      const double cost = cost_of(replay, *replay.classes[choice.of_class], choice.candidate);
      if (spent + cost > budget) break;
      spent += cost;
      points[choice.of_class].push_back(choice.candidate);
      ++measured;
    }
    // All that was planned fitted: times were overestimated, and there is something left.
    if (measured == 0 || measured < plan->choices.size() || budget - spent < 0.01 * budget) return {};
  }
}

Result<Outcomes> run_plan(const Replay& replay, std::uint64_t seed) {
  Outcomes outcomes;
  std::vector<Points> points(replay.classes.size());
  Fitted known;
  double spent = 0.0;
  for (const double budget : replay.budgets) {
    const auto measured = measure_by_plan(replay, known, budget, seed + 1000 * outcomes.size(), points, spent);
    if (!measured) return measured.error();
    auto fitted = fit_all(replay, points, seed);
    if (!fitted) return fitted.error();
    known = *std::move(fitted);
    outcomes.push_back(known.outcomes);
  }
  return outcomes;
}

std::vector<Points> choose(const Replay& replay, Strategy strategy, double budget, std::uint64_t seed) {
  if (strategy == Strategy::random) return pooled_random(replay, budget, seed);
  const auto shares = equal_shares(replay, budget);
  std::vector<Points> points;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto choice = strategy == Strategy::random_equal ? random_points : spread_points;
    points.push_back(choice(replay, *replay.classes[i], shares[i], seed + i));
  }
  return points;
}

}  // namespace

std::string_view to_string(Strategy strategy) {
  switch (strategy) {
    case Strategy::plan:
      return "plan";
    case Strategy::random:
      return "random";
    case Strategy::random_equal:
      return "random, equal shares";
    case Strategy::spread_equal:
      return "space-filling, equal shares";
  }
  return "";
}

Result<Outcomes> run(const Replay& replay, Strategy strategy, std::uint64_t seed) {
  if (strategy == Strategy::plan) return run_plan(replay, seed);
  Outcomes outcomes;
  for (const double budget : replay.budgets) {
    auto fitted = fit_all(replay, choose(replay, strategy, budget, seed), seed);
    if (!fitted) return fitted.error();
    outcomes.push_back(fitted->outcomes);
  }
  return outcomes;
}

Result<std::vector<ClassOutcome>> whole_tables(const Replay& replay) {
  std::vector<Points> points;
  for (const ClassData* data : replay.classes) {
    points.emplace_back(data->pool.size());
    std::iota(points.back().begin(), points.back().end(), std::size_t{0});
  }
  auto fitted = fit_all(replay, points, 1);
  if (!fitted) return fitted.error();
  return fitted->outcomes;
}

}  // namespace roofcal::plan_replay
