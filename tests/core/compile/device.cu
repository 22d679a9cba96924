// Compiled by nvcc in a test: the units in device code, and the headers of core that the microbenchmarks include.
#include "core/dtype.h"
#include "core/gemm.h"
#include "core/gpu_spec.h"
#include "core/operator.h"
#include "core/result.h"
#include "core/roofline.h"
#include "core/sample.h"
#include "core/units.h"

namespace {

using roofcal::Bytes;
using roofcal::BytesPerSecond;
using roofcal::Seconds;

__global__ void slowest(const double* bytes, int count, double bandwidth, double* seconds) {
  Seconds longest{};
  for (int i = 0; i < count; ++i) {
    const Seconds time = Bytes(bytes[i]) / BytesPerSecond(bandwidth);
    if (time > longest) {
      longest = time;
    }
  }
  longest += Seconds(1e-6);
  *seconds = (2.0 * longest).value();
}

}  // namespace

void run_slowest(const double* bytes, int count, double bandwidth, double* seconds) {
  slowest<<<1, 1>>>(bytes, count, bandwidth, seconds);
}
