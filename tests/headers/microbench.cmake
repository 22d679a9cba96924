# Headers of microbench that compile without CUDA.
list(APPEND headers
  microbench/cache_rotation.h
  microbench/ceilings.h
  microbench/clock_steadiness.h
  microbench/device.h
  microbench/drift.h
  microbench/gpu_facts.h
  microbench/launch_plan.h
  microbench/measure_case.h
  microbench/measurement_case.h
  microbench/memory_fit.h
  microbench/memory_kernels.h
  microbench/number_formats.h
  microbench/random_data.h
  microbench/recorder.h
  microbench/references.h
  microbench/resume.h
  microbench/statistics.h
  microbench/stopping.h
  microbench/suites.h
  microbench/throttle.h
  microbench/time_left.h
)
