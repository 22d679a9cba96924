// What the tests of db share: a folder of their own, files in it, samples.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "db/catalogue.h"
#include "db/store.h"

namespace roofcal::testing {

/// A folder that goes when the test does.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "roofcal-db-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::filesystem::path write_file(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::filesystem::path write_gzip(const std::filesystem::path& file, std::string_view text) {
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  return file;
}

/// The value, or a failed test that shows the error.
template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return *std::move(result);
}
inline void must(const Result<void>& result) { ASSERT_TRUE(result.ok()) << result.error().message; }

inline const GpuCatalogue& catalogue() {
  static const GpuCatalogue loaded =
      must(GpuCatalogue::load(std::filesystem::path(ROOFCAL_SOURCE_DIR) / "db/catalogue"));
  return loaded;
}

inline StoredSample gemm_sample(std::int64_t m, double seconds) {
  StoredSample sample;
  sample.key.op = "gemm";
  sample.key.gpu = "h200_sxm";
  sample.key.framework = "trtllm";
  sample.key.version = "1.0";
  sample.key.kernel = "torch_flow";
  sample.key.attributes = {{"dtype", "bfloat16"}};
  sample.shape = {m, 4096, 8192};
  sample.time = Seconds(seconds);
  return sample;
}

inline Run test_run(std::string source = "test") {
  Run run;
  run.source = std::move(source);
  run.origin = "a test";
  run.started_utc = "2026-12-01T14:00:00Z";
  return run;
}

/// Stores samples as one run.
inline RunOutcome store_all(Store& store, const Run& run, const std::vector<StoredSample>& samples) {
  return must(store.add_run(run, [&](const Store::SampleSink& sink) -> Result<void> {
    for (const StoredSample& sample : samples) {
      if (auto stored = sink(sample); !stored) return stored;
    }
    return {};
  }));
}

inline std::vector<std::pair<Run, StoredSample>> everything(const Store& store) {
  std::vector<std::pair<Run, StoredSample>> out;
  must(store.for_each({}, [&](const Run& run, const StoredSample& sample) -> Result<void> {
    out.emplace_back(run, sample);
    return {};
  }));
  return out;
}

}  // namespace roofcal::testing
