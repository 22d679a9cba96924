#include "microbench/recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace roofcal::microbench {
namespace {

constexpr double kImpossible = 1e300;  // a check's error that is infinite: the store takes finite figures only

std::string joined(const std::vector<std::string_view>& words) { return fmt::format("{}", fmt::join(words, ",")); }

StoredSample sample_of(const MeasurementCase& one, const RecordContext& context) {
  StoredSample sample;
  sample.kind = one.kind;
  sample.key = key_of(one, context);
  if (one.kind == kOperatorSample) {
    sample.shape = shape_of(one);
    // Which rows and widths the bytes came from.
    if (one.op == "memory") {
      for (const auto& [name, value] : one.sizes) sample.extra[name] = fmt::format("{}", value);
    }
  } else {
    sample.sizes = one.sizes;
  }
  if (const auto batch = one.sizes.find("batch"); batch != one.sizes.end()) sample.batch_count = batch->second;
  sample.device = context.device;
  sample.measured_utc = context.measured_utc;
  sample.data_fill = context.fill == DataFill::random ? "random" : "zeros";
  sample.extra["case"] = case_id(one);
  return sample;
}

StoredSample check_sample(const Outcome& outcome, const RecordContext& context) {
  StoredSample sample = sample_of(outcome.measured_case, context);
  sample.kind = std::string(kCheckKind);
  sample.shape = Shape();
  sample.sizes = outcome.measured_case.sizes;
  sample.batch_count.reset();
  sample.time = Seconds(std::max(outcome.check_took.value(), 1e-9));
  sample.algorithm = outcome.algorithm;
  sample.metrics["checked_elements"] = static_cast<double>(outcome.check.elements);
  sample.metrics["worst_error_over_tolerance"] = std::min(outcome.check.worst, kImpossible);
  if (outcome.state == OutcomeState::wrong) {
    sample.flags = "failed";
    sample.extra["wrong"] = outcome.reason;
  }
  return sample;
}

StoredSample timed_sample(const Outcome& outcome, const RecordContext& context) {
  StoredSample sample = sample_of(outcome.measured_case, context);
  const Statistics& statistics = outcome.statistics;
  sample.time = statistics.median;
  sample.count = static_cast<std::int64_t>(statistics.n);
  sample.p10_s = statistics.p10.value();
  sample.p90_s = statistics.p90.value();
  sample.relative_error = statistics.relative_error;
  sample.raw_s = outcome.raw_s;
  if (outcome.sm_clock) sample.sm_clock_hz = outcome.sm_clock->value();
  if (outcome.telemetry.power) sample.power_w = outcome.telemetry.power->value();
  if (outcome.telemetry.power_limit) sample.power_limit_w = outcome.telemetry.power_limit->value();
  sample.launch_mode = to_string(outcome.plan.mode);
  sample.algorithm = outcome.algorithm;
  sample.metrics["mad_s"] = statistics.mad.value();
  sample.metrics["mean_s"] = statistics.mean.value();
  sample.metrics["outliers"] = static_cast<double>(statistics.outliers);
  sample.metrics["launches_per_sample"] = static_cast<double>(outcome.plan.launches);
  sample.metrics["operand_sets"] = static_cast<double>(outcome.rotation.sets);
  if (outcome.telemetry.temperature_c) sample.metrics["temperature_c"] = *outcome.telemetry.temperature_c;
  const Work work = work_of(outcome.measured_case);
  if (work.flops.value() > 0.0) sample.metrics["flops_per_s"] = (work.flops / sample.time).value();
  const Bytes bytes = work.bytes() + work.link_bytes;
  if (bytes.value() > 0.0) sample.metrics["bytes_per_s"] = (bytes / sample.time).value();

  std::map<std::string, std::string> notes = outcome.notes;
  if (const auto layout = notes.find("layout"); layout != notes.end()) {
    sample.layout = layout->second;
    notes.erase(layout);
  }
  sample.extra.insert(notes.begin(), notes.end());
  sample.extra["clock_mode"] = to_string(context.clocks);
  sample.extra["stopped_by"] = to_string(outcome.stopped);
  sample.extra["warm_up"] = to_string(outcome.steadiness);
  sample.extra["cache_by"] = outcome.rotation.how();
  sample.extra["throttle_reasons"] = outcome.throttle_reasons ? describe_reasons(*outcome.throttle_reasons) : "unknown";
  sample.extra["raw_sm_clock_hz"] = fmt::format("{:.4g}", fmt::join(outcome.raw_clock_hz, ";"));

  std::vector<std::string_view> flags;
  if (outcome.throttled) flags.push_back("throttled");
  if ((outcome.throttle_reasons.value_or(0) & software_power_cap) != 0) flags.push_back("power_capped");
  if (outcome.steadiness == Steadiness::never) flags.push_back("unsteady_clock");
  if (context.drifted) flags.push_back("drifted");
  if (outcome.stopped != StopReason::precise) flags.push_back("imprecise");
  if (context.fill == DataFill::zeros) flags.push_back("zeros");
  sample.flags = joined(flags);
  return sample;
}

}  // namespace

ClassKey key_of(const MeasurementCase& one, const RecordContext& context) {
  ClassKey key;
  key.op = one.op;
  key.gpu = context.gpu;
  key.kernel = one.kernel;
  key.attributes = one.attributes;
  key.cache = one.cache;
  if (one.op == "gemm") {
    key.framework = "cublaslt";
    key.version = context.version;
  } else {
    key.framework = "roofcal";
    key.version = context.roofcal;
  }
  return key;
}

std::vector<StoredSample> samples_of(const Outcome& outcome, const RecordContext& context) {
  std::vector<StoredSample> out;
  if (outcome.state == OutcomeState::skipped) return out;
  if (outcome.check.elements > 0) out.push_back(check_sample(outcome, context));
  if (outcome.state == OutcomeState::measured) out.push_back(timed_sample(outcome, context));
  return out;
}

StoredSample map_sample(const MeasurementCase& one, const std::string& algorithm, Seconds asking,
                        const RecordContext& context) {
  StoredSample sample = sample_of(one, context);
  sample.data_fill.clear();
  sample.time = Seconds(std::max(asking.value(), 1e-9));
  sample.algorithm = algorithm;
  sample.extra["time_is"] = "what the question took on the host";
  return sample;
}

}  // namespace roofcal::microbench
