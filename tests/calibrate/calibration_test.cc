#include "calibrate/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "calibrate/fit.h"
#include "calibrate/gzip.h"
#include "calibrate/packed_text.h"
#include "tests/calibrate/synthetic.h"

namespace roofcal {
namespace {

using test::synthetic_gpu;
using test::synthetic_key;
using ::testing::HasSubstr;

const GpuSpec* find_gpu(std::string_view name) {
  static const GpuSpec gpu = synthetic_gpu();
  return name == gpu.name ? &gpu : nullptr;
}

Calibration make_calibration() {
  Calibration calibration;
  calibration.origin = "store";
  calibration.source = "tests";
  calibration.created_utc = "2026-12-01T00:00:00Z";
  const auto samples = test::synthetic_samples(100, 1);
  calibration.models.push_back(*fit_class(synthetic_key(), synthetic_gpu(), samples, {}));
  ClassKey group = synthetic_key();
  group.kernel.clear();
  const std::vector<Dispatch::Choice> choices{{Shape{1, 2, 3}, "test_kernel"}};
  calibration.dispatch.emplace(group, Dispatch::learn(choices));
  return calibration;
}

const Calibration& small_calibration() {
  static const Calibration calibration = make_calibration();
  return calibration;
}

TEST(CalibrationFile, ComesBackAsItWasByteForByte) {
  const Calibration& calibration = small_calibration();
  const std::string bytes = serialise_calibration(calibration);
  EXPECT_EQ(serialise_calibration(calibration), bytes);
  const auto back = parse_calibration(bytes, find_gpu);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(serialise_calibration(*back), bytes);
  EXPECT_EQ(back->models.front().key(), synthetic_key());
  EXPECT_EQ(back->dispatch.size(), 1U);
}

TEST(CalibrationFile, IsSavedWholeOrNotAtAll) {
  const auto folder = std::filesystem::temp_directory_path() / ("roofcal_calibration_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const Calibration& calibration = small_calibration();
  ASSERT_TRUE(save_calibration(calibration, folder / "a.json.gz").ok());
  EXPECT_TRUE(load_calibration(folder / "a.json.gz", find_gpu).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  const auto failed = save_calibration(calibration, folder / "missing" / "b.json.gz");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  EXPECT_THAT(failed.error().message, HasSubstr("missing"));
  const auto absent = load_calibration(folder / "absent.json.gz", find_gpu);
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.error().message, HasSubstr("absent.json.gz"));
  std::ofstream(folder / "text.json.gz") << "not gzip";
  const auto text = load_calibration(folder / "text.json.gz", find_gpu);
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().message, HasSubstr("text.json.gz: it is not a whole gzip file"));
  std::filesystem::remove_all(folder);
}

TEST(CalibrationFile, NoDamageCrashesIt) {
  const std::string bytes = serialise_calibration(small_calibration());
  Random random(1);
  for (std::size_t cut = 0; cut < bytes.size(); cut += 997) {
    EXPECT_FALSE(parse_calibration(std::string_view(bytes).substr(0, cut), find_gpu).ok());
  }
  // Inside the gzip its checksum would hide what damaged JSON does: damage the text and pack it again.
  const std::string text = *gzip_decompress(bytes, std::size_t{1} << 26);
  int refused = 0;
  for (int round = 0; round < 60; ++round) {
    std::string damaged = text;
    const std::size_t flips = 1 + random.below(3);
    for (std::size_t i = 0; i < flips; ++i) {
      damaged[random.below(damaged.size())] = static_cast<char>(32 + random.below(95));
    }
    const auto calibration = parse_calibration(gzip_compress(damaged), find_gpu);
    if (!calibration) {
      ++refused;
      EXPECT_FALSE(calibration.error().message.empty());
      continue;
    }
    // A number changed for another legal number cannot be noticed, but must do no harm.
    for (const ClassModel& model : calibration->models) {
      (void)model.predict(Shape{7, 4096, 4096});
      (void)model.nearest(Shape{7, 4096, 4096}, 3);
    }
  }
  EXPECT_GT(refused, 5);
}

nlohmann::json text_of(const Calibration& calibration) {
  return nlohmann::json::parse(*gzip_decompress(serialise_calibration(calibration), std::size_t{1} << 26));
}

TEST(CalibrationFile, SaysWhatIsWrong) {
  const auto whole = text_of(small_calibration());
  const auto message = [](const nlohmann::json& json) {
    const auto calibration = parse_calibration(gzip_compress(json.dump()), find_gpu);
    return calibration.ok() ? std::string("no error") : calibration.error().message;
  };
  auto newer = whole;
  newer["version"] = 99;
  EXPECT_THAT(message(newer), HasSubstr("newer roofcal"));
  auto foreign = whole;
  foreign["format"] = "something else";
  EXPECT_THAT(message(foreign), HasSubstr("not a roofcal calibration"));
  auto gpu = whole;
  gpu["models"][0]["key"]["gpu"] = "nobody_knows";
  EXPECT_THAT(message(gpu), HasSubstr("nobody_knows"));
  auto column = whole;
  column["models"][0]["weights"].erase("memory");
  EXPECT_THAT(message(column), HasSubstr("calibrate again"));
  auto negative = whole;
  negative["models"][0]["weights"]["memory"] = -1.0;
  EXPECT_THAT(message(negative), HasSubstr("\"memory\" = -1.0 is out of range"));
  EXPECT_THAT(message(nlohmann::json::array()), HasSubstr("not a roofcal calibration"));
}

TEST(Gzip, GivesBackWhatItGot) {
  for (const std::string& text : {std::string(), std::string("a"), std::string(100'000, 'x')}) {
    const auto back = gzip_decompress(gzip_compress(text), 1 << 20);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, text);
  }
  EXPECT_FALSE(gzip_decompress(gzip_compress(std::string(100'000, 'x')), 99'999).ok());
  EXPECT_FALSE(gzip_decompress("", 100).ok());
}

TEST(PackedText, GivesBackWhatItGot) {
  const std::vector<std::uint32_t> values{0, 1, 63, 64, 4095, 4096, 262143};
  EXPECT_EQ(unpack_text(pack_text(values, 3), values.size(), 3), values);
  for (const std::int32_t value : {0, -1, 1, -32768, 32767}) {
    EXPECT_EQ(unzigzag(zigzag(value)), value);
  }
}

}  // namespace
}  // namespace roofcal
