#include "microbench/gpu/stream_subject.h"

#include <algorithm>

namespace roofcal::microbench {
namespace {

// A stamp that took less than this apart says nothing of the clock: the device's timer ticks once a microsecond on
// some GPUs.
constexpr double kShortestForClock = 50e3;  // nanoseconds

std::optional<Hertz> clock_of(const ClockStamp& before, const ClockStamp& after) {
  if (before.nanoseconds == 0 || after.nanoseconds <= before.nanoseconds || after.cycles <= before.cycles) {
    return std::nullopt;
  }
  const auto nanoseconds = static_cast<double>(after.nanoseconds - before.nanoseconds);
  if (nanoseconds < kShortestForClock) return std::nullopt;
  return Hertz(1e9 * static_cast<double>(after.cycles - before.cycles) / nanoseconds);
}

}  // namespace

Result<void> StreamSubject::set_up() {
  for (OwnedEvent* event : {&begin_, &end_}) {
    auto made = create_event(gpu_.api);
    if (!made) return made.error();
    *event = *std::move(made);
  }
  auto stamps = allocate_pinned(gpu_.api, 2 * sizeof(ClockStamp));
  if (!stamps) return stamps.error();
  stamps_ = *std::move(stamps);
  if (options_.rotation.flush) {
    auto flush = allocate_device(gpu_.api, static_cast<std::size_t>(options_.rotation.flush_bytes.value()));
    if (!flush) return flush.error();
    flush_ = *std::move(flush);
    auto result = allocate_device(gpu_.api, sizeof(std::uint32_t));
    if (!result) return result.error();
    flush_result_ = *std::move(result);
  }
  return {};
}

Result<Seconds> StreamSubject::probe() {
  // The first launch loads code and is not what later ones are like.
  if (const auto done = enqueue(0); !done) return done.error();
  const auto time = timed([&] { return enqueue(0); });
  if (!time) return time;
  return std::max(*time, Seconds(1e-7));
}

Result<void> StreamSubject::arrange(const LaunchPlan& plan) {
  plan_ = plan;
  next_set_ = 0;
  if (options_.fill == DataFill::zeros) {
    if (const auto done = zero_inputs(); !done) return done;
  }
  if (plan.mode != LaunchMode::graph) return {};
  auto exec = capture(gpu_.api, gpu_.stream.get(), [&]() -> Result<void> {
    for (std::size_t i = 0; i < plan_.launches; ++i) {
      if (const auto done = enqueue(i % options_.rotation.sets); !done) return done;
    }
    return {};
  });
  if (!exec) return exec.error();
  exec_ = *std::move(exec);
  return {};
}

Result<Burst> StreamSubject::burst() {
  CudaApi& api = gpu_.api;
  const CudaStream stream = gpu_.stream.get();
  auto* stamps = static_cast<ClockStamp*>(stamps_.get());
  stamps[0] = stamps[1] = ClockStamp();
  if (flush_) {
    const auto bytes = static_cast<std::int64_t>(options_.rotation.flush_bytes.value()) / 16 * 16;
    gpu_.kernels.read(flush_.get(), bytes, static_cast<std::uint32_t*>(flush_result_.get()), stream);
  }
  gpu_.kernels.stamp(&stamps[0], gpu_.facts.sm_count, stream);
  if (const auto done = launched("clock stamp"); !done) return done.error();
  const auto time = timed([&]() -> Result<void> {
    if (plan_.mode == LaunchMode::graph) return checked(api, api.launch(exec_.get(), stream), "cudaGraphLaunch");
    for (std::size_t i = 0; i < plan_.launches; ++i) {
      if (const auto done = enqueue(next_set_); !done) return done;
      next_set_ = (next_set_ + 1) % options_.rotation.sets;
    }
    return {};
  });
  if (!time) return time.error();
  gpu_.kernels.stamp(&stamps[1], gpu_.facts.sm_count, stream);
  if (const auto done = launched("clock stamp"); !done) return done.error();
  if (const auto done = checked(api, api.synchronize(stream), "cudaStreamSynchronize"); !done) return done.error();
  return Burst{*time / static_cast<double>(plan_.launches), clock_of(stamps[0], stamps[1])};
}

}  // namespace roofcal::microbench
