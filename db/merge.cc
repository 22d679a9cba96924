#include "db/merge.h"

#include <algorithm>

namespace roofcal {

Result<MergeOutcome> merge(Store& into, const Store& from) {
  MergeOutcome out;
  const auto before = into.info();
  if (!before) return before.error();
  const auto samples = into.add_runs([&from](const Store::RunSampleSink& sink) { return from.for_each({}, sink); });
  if (!samples) return samples.error();
  out.samples = samples->stored;
  out.already_there = samples->already_there;
  const auto after = into.info();
  if (!after) return after.error();
  out.runs = after->runs - before->runs;

  const auto theirs = from.gpus();
  if (!theirs) return theirs.error();
  const auto ours = into.gpus();
  if (!ours) return ours.error();
  for (const auto& [name, json] : *theirs) {
    if (ours->contains(name)) continue;
    if (const auto put = into.put_gpu(name, json); !put) return put.error();
    ++out.gpus;
  }

  const auto calibrations = from.latest_calibrations({});
  if (!calibrations) return calibrations.error();
  const auto own = into.latest_calibrations({});
  if (!own) return own.error();
  for (const auto& one : *calibrations) {
    if (std::ranges::find(*own, one.key, &Store::StoredCalibration::key) != own->end()) continue;
    if (const auto put = into.put_calibration(one.key, one.digest, one.blob); !put) return put.error();
    ++out.calibrations;
  }
  return out;
}

}  // namespace roofcal
