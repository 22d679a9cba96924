// What the driver tells of a GPU and its surroundings: provenance of a run, and a draft for the catalogue.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/gpu_spec.h"
#include "core/units.h"
#include "db/catalogue.h"
#include "db/store.h"
#include "microbench/throttle.h"

namespace roofcal::microbench {

struct GpuFacts {
  int index = 0;
  std::string name;  ///< as the driver writes it
  std::string uuid;
  int compute_major = 0;
  int compute_minor = 0;
  int sm_count = 0;
  Hertz boost_clock{};
  Bytes l2{};
  Bytes memory{};
  BytesPerSecond memory_bandwidth{};  ///< from memory clock and bus width; 0 where the driver tells neither
  /// Everything else by name, where it could be found out: vbios, driver, cuda_driver, cuda_runtime, cublaslt, cudnn,
  /// nccl, power_limit_w, power_default_w, sm_clock_max_hz, sm_clock_set_hz, temperature_c, ecc, mig, topology.
  std::map<std::string, std::string> details;

  /// 90 for compute capability 9.0.
  [[nodiscard]] int capability() const { return 10 * compute_major + compute_minor; }
};

/// What a run is, beside its GPU.
struct RunDescription {
  std::string command_line;
  std::string started_utc;
  ClockMode clocks = ClockMode::as_shipped;
  std::string data_fill = "random";
  std::string campaign;  ///< resume.h
  std::string version;   ///< of roofcal
  std::string commit;    ///< empty: not built from a checkout
};

/// The run as the store keeps it. `gpu`: catalogue name; host and container are found out here.
[[nodiscard]] Run run_of(const GpuFacts& facts, const std::string& gpu, const RunDescription& description);

/// Which entry describes a GPU: the catalogue's, found by the driver's name; else a spec of what the driver told,
/// without peaks, under a name made of the driver's ("NVIDIA Foo 9000" -> "foo_9000").
struct KnownGpu {
  GpuSpec spec;
  bool in_catalogue = false;
};
[[nodiscard]] KnownGpu look_up(const GpuFacts& facts, const GpuCatalogue& catalogue);

/// A catalogue file with what the driver told. Figures that only a datasheet has are named under "missing".
[[nodiscard]] std::string draft_catalogue_entry(const GpuFacts& facts);

}  // namespace roofcal::microbench
