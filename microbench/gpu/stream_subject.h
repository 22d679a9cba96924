// What timing by device events has in common, whatever is launched.
#pragma once

#include "microbench/gpu/gpu_context.h"

namespace roofcal::microbench {

class StreamSubject : public Subject {
 public:
  [[nodiscard]] Result<Seconds> probe() override;
  [[nodiscard]] Result<void> arrange(const LaunchPlan& plan) override;
  /// In the stream: flush (where the rotation asks for it), clock stamp, event, the launches, event, clock stamp. Only
  /// what is between the events is timed.
  [[nodiscard]] Result<Burst> burst() override;

 protected:
  StreamSubject(GpuContext& gpu, const PrepareOptions& options) : gpu_(gpu), options_(options) {}

  /// Events, stamps and the flush buffer; first in every prepare.
  [[nodiscard]] Result<void> set_up();
  /// Puts one launch on operand set `set` into the stream.
  [[nodiscard]] virtual Result<void> enqueue(std::size_t set) = 0;
  /// Zeroes the inputs, once the check has been made on random ones.
  [[nodiscard]] virtual Result<void> zero_inputs() { return {}; }
  /// Time of what `launch` puts between two events.
  template <class Launch>
  [[nodiscard]] Result<Seconds> timed(const Launch& launch);
  [[nodiscard]] Result<void> launched(const char* what) { return checked(gpu_.api, gpu_.api.last_error(), what); }

  GpuContext& gpu_;
  PrepareOptions options_;
  LaunchPlan plan_;

 private:
  OwnedEvent begin_, end_;
  PinnedMemory stamps_;  // two ClockStamps
  DeviceMemory flush_;
  DeviceMemory flush_result_;
  OwnedExec exec_;
  std::size_t next_set_ = 0;
};

template <class Launch>
Result<Seconds> StreamSubject::timed(const Launch& launch) {
  CudaApi& api = gpu_.api;
  const CudaStream stream = gpu_.stream.get();
  if (const auto done = checked(api, api.record(begin_.get(), stream), "cudaEventRecord"); !done) return done.error();
  if (const auto done = launch(); !done) return done.error();
  if (const auto done = checked(api, api.record(end_.get(), stream), "cudaEventRecord"); !done) return done.error();
  if (const auto done = checked(api, api.wait_for(end_.get()), "cudaEventSynchronize"); !done) return done.error();
  float milliseconds = 0.0F;
  const auto done = checked(api, api.elapsed(&milliseconds, begin_.get(), end_.get()), "cudaEventElapsedTime");
  if (!done) return done.error();
  return Seconds(1e-3 * static_cast<double>(milliseconds));
}

}  // namespace roofcal::microbench
