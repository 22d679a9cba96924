#include "microbench/campaign.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>

#include "db/utc_text.h"
#include "microbench/drift.h"
#include "microbench/recorder.h"
#include "microbench/resume.h"
#include "microbench/store_reporter.h"
#include "microbench/time_left.h"

namespace roofcal::microbench {
namespace {

constexpr std::size_t kMapBatch = 4096;

std::string detail(const GpuFacts& facts, const char* name) {
  const auto found = facts.details.find(name);
  return found == facts.details.end() ? std::string() : found->second;
}

// What all samples of a run have in common.
struct RunFrame {
  RunFrame(const GpuFacts& facts, const GpuCatalogue& catalogue, const CampaignOptions& options)
      : known(look_up(facts, catalogue)) {
    context.gpu = known.spec.name;
    context.version = detail(facts, "cublaslt");
    context.roofcal = options.version;
    context.device = facts.uuid;
    context.clocks = options.measure.clocks;
    context.fill = options.measure.fill;
    RunDescription description;
    description.command_line = options.command_line;
    description.started_utc = now_utc_text();
    description.clocks = options.measure.clocks;
    description.data_fill = options.measure.fill == DataFill::random ? "random" : "zeros";
    campaign = campaign_id(facts, description.clocks, description.data_fill);
    description.campaign = campaign;
    description.version = options.version;
    description.commit = options.commit;
    run = run_of(facts, context.gpu, description);
    run.extra["seed"] = fmt::format("{}", options.measure.seed);
    run.extra["order_seed"] = fmt::format("{}", options.order_seed);
  }

  [[nodiscard]] Result<void> store(Store& to, const std::vector<StoredSample>& samples) {
    if (samples.empty()) return {};
    run.ended_utc = now_utc_text();
    const auto stored = to.add_run(run, [&](const Store::SampleSink& sink) -> Result<void> {
      for (const StoredSample& sample : samples) {
        if (const auto done = sink(sample); !done) return done;
      }
      return {};
    });
    if (!stored) return stored.error();
    return {};
  }

  KnownGpu known;
  RecordContext context;
  std::string campaign;
  Run run;
};

// The state that benchmarks and the reporter share while Google Benchmark drives them.
class Campaign final : public OutcomeSink {
 public:
  Campaign(Device& device, Store& store, const GpuCatalogue& catalogue, const CampaignOptions& options,
           const std::function<void(const CampaignProgress&)>& progress)
      : device_(device),
        store_(store),
        options_(options),
        progress_(progress),
        frame_(device.facts(), catalogue, options),
        finder_(frame_.known.spec, device.facts().l2),
        left_(Seconds(0.0), options.budget) {
    summary_.gpu = frame_.context.gpu;
    summary_.gpu_name = device.facts().name;
  }

  [[nodiscard]] Result<CampaignSummary> run(bool own_display) {
    std::vector<MeasurementCase> cases = options_.cases;
    if (options_.resume) {
      const auto done = done_cases(store_, frame_.context.gpu, frame_.campaign);
      if (!done) return done.error();
      const auto erased = std::erase_if(cases, [&](const auto& one) { return done->contains(case_id(one)); });
      summary_.already_done = erased;
    }
    std::mt19937_64 engine(options_.order_seed);
    std::ranges::shuffle(cases, engine);
    if (options_.sentinels && !cases.empty()) insert_sentinels(cases);
    Seconds expected{};
    for (const auto& one : cases) expected += expected_of(one);
    left_ = TimeLeft(expected, options_.budget);
    total_ = cases.size();
    began_ = device_.now();
    register_benchmarks(cases);
    StoreReporter reporter(*this, own_display);
    if (!cases.empty()) benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::ClearRegisteredBenchmarks();
    summary_.took = device_.now() - began_;
    if (failure_) return *failure_;
    return finish();
  }

  // Called by the reporter, in the order in which benchmarks ran.
  void reported(const std::string& name) override {
    const auto waiting = book_.find(name);
    if (waiting == book_.end() || waiting->second.empty()) return;
    const Outcome outcome = std::move(waiting->second.front());
    waiting->second.pop_front();
    frame_.context.measured_utc = now_utc_text();
    frame_.context.drifted = track_.drifted() && outcome.measured_case.kind != kSentinelKind;
    if (const auto stored = frame_.store(store_, samples_of(outcome, frame_.context)); !stored) fail(stored.error());
  }

 private:
  void insert_sentinels(std::vector<MeasurementCase>& cases) const {
    std::vector<MeasurementCase> out;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (i % options_.cases_between_sentinels == 0) out.push_back(sentinel_case());
      out.push_back(std::move(cases[i]));
    }
    out.push_back(sentinel_case());
    cases = std::move(out);
  }

  void register_benchmarks(const std::vector<MeasurementCase>& cases) {
    for (const MeasurementCase& one : cases) {
      // One iteration is one whole measurement: how often the kernel runs within is the stopping rule's business.
      benchmark::RegisterBenchmark(case_id(one).c_str(), [this, one](benchmark::State& state) { measure(one, state); })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMicrosecond);
    }
  }

  void measure(const MeasurementCase& one, benchmark::State& state) {
    ++done_;
    if (failure_) return state.SkipWithError("the run has ended with an error");
    const Seconds elapsed = device_.now() - began_;
    if (left_.over(elapsed)) {
      if (one.kind != kSentinelKind) ++summary_.not_reached;
      return state.SkipWithError("the minutes are over");
    }
    progress_({done_, total_, left_.left(elapsed), case_id(one)});
    MeasureOptions how = options_.measure;
    how.seed = hash_of(how.seed, done_);  // fresh data each time
    auto outcome = measure_case(device_, one, how);
    if (!outcome) {
      fail(Error{outcome.error().code, fmt::format("{}: {}", case_id(one), outcome.error().message)});
      return state.SkipWithError(outcome.error().message.c_str());
    }
    note(*outcome);
    if (outcome->state != OutcomeState::measured) {
      state.SkipWithError(outcome->reason.c_str());
    } else {
      for (auto _ : state) state.SetIterationTime(outcome->statistics.median.value());
      state.counters["n"] = static_cast<double>(outcome->statistics.n);
      state.counters["p10_s"] = outcome->statistics.p10.value();
      state.counters["p90_s"] = outcome->statistics.p90.value();
      if (outcome->sm_clock) state.counters["sm_clock_hz"] = outcome->sm_clock->value();
      state.SetLabel(outcome->algorithm);
    }
    book_[case_id(one)].push_back(*std::move(outcome));
  }

  void note(const Outcome& outcome) {
    const MeasurementCase& one = outcome.measured_case;
    const bool sentinel = one.kind == kSentinelKind;
    switch (outcome.state) {
      case OutcomeState::measured:
        left_.finished(expected_of(one), outcome.took);
        if (sentinel) {
          track_.add(outcome.statistics.median);
          break;
        }
        ++summary_.measured;
        summary_.throttled += outcome.throttled ? 1 : 0;
        finder_.add(outcome);
        break;
      case OutcomeState::wrong:
        left_.finished(expected_of(one), outcome.took);
        ++summary_.wrong;
        summary_.wrong_cases.push_back(fmt::format("{}: {}", case_id(one), outcome.reason));
        break;
      case OutcomeState::skipped:
        left_.skipped(expected_of(one));
        if (sentinel) break;
        ++summary_.skipped;
        // Figures differ from shape to shape; the kind of reason is what a summary counts.
        ++summary_
              .skip_reasons[outcome.reason.starts_with("needs ") ? "does not fit in device memory" : outcome.reason];
        break;
    }
  }

  [[nodiscard]] Result<CampaignSummary> finish() {
    summary_.worst_drift = track_.worst();
    summary_.ceilings = finder_.ceilings();
    std::vector<StoredSample> samples;
    for (const auto& ceiling : summary_.ceilings) {
      samples.push_back(
          ceiling_sample(ceiling, key_of(ceiling.best, frame_.context), frame_.context.device, now_utc_text()));
    }
    if (const auto stored = frame_.store(store_, samples); !stored) return stored.error();
    return summary_;
  }

  [[nodiscard]] Seconds expected_of(const MeasurementCase& one) const {
    return expected_case_time(one, frame_.known.spec, options_.measure.stopping);
  }

  void fail(Error error) {
    if (!failure_) failure_ = std::move(error);
  }

  Device& device_;
  Store& store_;
  const CampaignOptions& options_;
  const std::function<void(const CampaignProgress&)>& progress_;
  RunFrame frame_;
  SentinelTrack track_;
  CeilingFinder finder_;
  TimeLeft left_;
  Seconds began_{};
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  std::map<std::string, std::deque<Outcome>> book_;
  CampaignSummary summary_;
  std::optional<Error> failure_;
};

}  // namespace

Result<CampaignSummary> run_campaign(Device& device, Store& store, const GpuCatalogue& catalogue,
                                     const CampaignOptions& options, bool own_display,
                                     const std::function<void(const CampaignProgress&)>& progress) {
  return Campaign(device, store, catalogue, options, progress).run(own_display);
}

Result<std::size_t> map_kernels(Device& device, Store& store, const GpuCatalogue& catalogue,
                                const CampaignOptions& options,
                                const std::function<void(const CampaignProgress&)>& progress) {
  RunFrame frame(device.facts(), catalogue, options);
  std::vector<StoredSample> batch;
  std::size_t answered = 0;
  const Seconds began = device.now();
  for (std::size_t i = 0; i < options.cases.size(); ++i) {
    const MeasurementCase& one = options.cases[i];
    if (i % 256 == 0) {
      const double each = i == 0 ? 50e-6 : (device.now() - began).value() / static_cast<double>(i);
      progress({i, options.cases.size(), Seconds(each * static_cast<double>(options.cases.size() - i)), case_id(one)});
    }
    const Seconds before = device.now();
    const auto choice = device.choice(one);
    if (!choice && choice.error().code != ErrorCode::not_calibrated) return choice.error();
    if (choice) {
      ++answered;
      frame.context.measured_utc = now_utc_text();
      batch.push_back(map_sample(one, *choice, device.now() - before, frame.context));
    }
    if (batch.size() >= kMapBatch || i + 1 == options.cases.size()) {
      if (const auto stored = frame.store(store, batch); !stored) return stored.error();
      batch.clear();
    }
  }
  return answered;
}

}  // namespace roofcal::microbench
