#include <chrono>
#include <cstring>

#include "microbench/gpu/stream_subject.h"
#include "microbench/gpu/subjects.h"

namespace roofcal::microbench {
namespace {

constexpr std::size_t kDispatches = 64;  // fewer than the driver's launch queue holds, so that none waits

// An empty kernel between two events: what a launch costs on the device, alone in a stream or in a graph of one node.
class LaunchSubject final : public StreamSubject {
 public:
  LaunchSubject(GpuContext& gpu, const PrepareOptions& options, LaunchMode mode)
      : StreamSubject(gpu, options), mode_(mode) {}
  Result<void> make_ready() { return set_up(); }
  Result<Check> check() override { return Check(); }
  Result<void> arrange(const LaunchPlan& plan) override {
    LaunchPlan single = plan;
    single.mode = mode_;
    single.launches = 1;
    return StreamSubject::arrange(single);
  }

 protected:
  Result<void> enqueue(std::size_t /*set*/) override {
    gpu_.kernels.empty(gpu_.stream.get());
    return launched("empty kernel");
  }

 private:
  LaunchMode mode_;
};

// How long the host is busy with one launch, the device's work not awaited.
class DispatchSubject final : public Subject {
 public:
  explicit DispatchSubject(GpuContext& gpu) : gpu_(gpu) {}
  Result<Check> check() override { return Check(); }
  Result<Seconds> probe() override {
    const auto first = burst();
    if (!first) return first.error();
    return first->per_launch;
  }
  Result<void> arrange(const LaunchPlan& /*plan*/) override { return {}; }
  Result<Burst> burst() override {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < kDispatches; ++i) gpu_.kernels.empty(gpu_.stream.get());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (const auto done = checked(gpu_.api, gpu_.api.last_error(), "empty kernel"); !done) return done.error();
    const auto done = checked(gpu_.api, gpu_.api.synchronize(gpu_.stream.get()), "cudaStreamSynchronize");
    if (!done) return done.error();
    return Burst{Seconds(took.count() / static_cast<double>(kDispatches)), std::nullopt};
  }
  std::map<std::string, std::string> notes() const override { return {{"timed_by", "the host's steady clock"}}; }

 private:
  GpuContext& gpu_;
};

class TransferSubject final : public StreamSubject {
 public:
  TransferSubject(GpuContext& gpu, const PrepareOptions& options, std::size_t bytes, bool to_device)
      : StreamSubject(gpu, options), bytes_(bytes), to_device_(to_device) {}

  Result<void> make_ready() {
    if (const auto done = set_up(); !done) return done;
    auto device = allocate_device(gpu_.api, bytes_);
    if (!device) return device.error();
    device_ = *std::move(device);
    auto host = allocate_pinned(gpu_.api, bytes_);
    if (!host) return host.error();
    host_ = *std::move(host);
    return {};
  }

  // Sends a pattern the way that is timed and looks at what arrived.
  Result<Check> check() override {
    std::memset(host_.get(), to_device_ ? 0x5A : 0, bytes_);
    const auto filled = checked(
        gpu_.api, gpu_.api.fill(device_.get(), to_device_ ? 0 : 0x5A, bytes_, gpu_.stream.get()), "cudaMemsetAsync");
    if (!filled) return filled.error();
    if (const auto done = enqueue(0); !done) return done.error();
    if (const auto done = checked(gpu_.api, gpu_.api.synchronize(gpu_.stream.get()), "cudaStreamSynchronize"); !done) {
      return done.error();
    }
    Check check;
    for (const std::size_t at : {std::size_t{0}, bytes_ / 2, bytes_ - 1}) {
      unsigned char got = static_cast<unsigned char*>(host_.get())[at];
      if (to_device_) {
        if (const auto done = download(gpu_, &got, static_cast<unsigned char*>(device_.get()) + at, 1); !done) {
          return done.error();
        }
      }
      check.compare(got, {0x5A, 0.0}, "byte");
    }
    return check;
  }

  std::map<std::string, std::string> notes() const override { return {{"host_memory", "pinned"}}; }

  // A graph would hide the host's part, which belongs to a transfer.
  Result<void> arrange(const LaunchPlan& plan) override {
    LaunchPlan stream = plan;
    stream.mode = LaunchMode::stream;
    return StreamSubject::arrange(stream);
  }

 protected:
  Result<void> enqueue(std::size_t /*set*/) override {
    void* to = to_device_ ? device_.get() : host_.get();
    const void* from = to_device_ ? host_.get() : device_.get();
    return checked(gpu_.api, gpu_.api.copy(to, from, bytes_, gpu_.stream.get()), "cudaMemcpyAsync");
  }

 private:
  std::size_t bytes_;
  bool to_device_;
  DeviceMemory device_;
  PinnedMemory host_;
};

}  // namespace

Result<std::unique_ptr<Subject>> prepare_launch(GpuContext& gpu, const MeasurementCase& one,
                                                const PrepareOptions& options) {
  if (one.op == "host_dispatch") return std::unique_ptr<Subject>(new DispatchSubject(gpu));
  const LaunchMode mode = one.op == "graph_launch" ? LaunchMode::graph : LaunchMode::stream;
  auto subject = std::make_unique<LaunchSubject>(gpu, options, mode);
  if (const auto ready = subject->make_ready(); !ready) return ready.error();
  return std::unique_ptr<Subject>(std::move(subject));
}

Result<std::unique_ptr<Subject>> prepare_transfer(GpuContext& gpu, const MeasurementCase& one,
                                                  const PrepareOptions& options) {
  const auto bytes = static_cast<std::size_t>(one.sizes.at("bytes"));
  auto subject = std::make_unique<TransferSubject>(gpu, options, bytes, one.op == "host_to_device");
  if (const auto ready = subject->make_ready(); !ready) return ready.error();
  return std::unique_ptr<Subject>(std::move(subject));
}

}  // namespace roofcal::microbench
