#include "calibrate/plan/plan.h"

namespace roofcal {

Result<Plan> make_plan(std::span<const PlanClass> classes, Seconds budget, const MeasurementCost& cost,
                       std::uint64_t seed, const std::function<void(Seconds)>& progress) {
  Plan plan;
  std::vector<ClassPlanner> planners;
  std::vector<ClassPlanner::Batch> next;
  for (const PlanClass& what : classes) {
    auto planner = ClassPlanner::create(what, cost, seed + planners.size());
    if (!planner) return planner.error();
    planners.push_back(*std::move(planner));
    plan.error_before.push_back(planners.back().expected());
    next.push_back(planners.back().propose(budget));
  }
  while (true) {
    const Seconds left = budget - plan.cost;
    std::size_t best = planners.size();
    double best_rate = 0.0;
    for (std::size_t i = 0; i < planners.size(); ++i) {
      if (next[i].cost > left) next[i] = planners[i].propose(left);
      if (next[i].candidates.empty()) continue;
      const double rate = classes[i].weight * next[i].rate;
      if (best < planners.size() && rate <= best_rate) continue;
      best = i;
      best_rate = rate;
    }
    if (best == planners.size()) break;
    for (const std::size_t candidate : next[best].candidates) {
      plan.choices.push_back({best, planners[best].original(candidate), planners[best].cost(candidate)});
    }
    plan.cost += next[best].cost;
    planners[best].take(next[best]);
    next[best] = planners[best].propose(budget - plan.cost);
    if (progress) progress(plan.cost);
  }
  for (const ClassPlanner& planner : planners) plan.error_after.push_back(planner.expected());
  return plan;
}

}  // namespace roofcal
