// What the program answers from the calibrations that come with it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "tests/cli/program.h"

namespace roofcal::cli::testing {
namespace {

class ProgramWithBuiltIns : public ::testing::Test {
 protected:
  ProgramWithBuiltIns() {
    std::filesystem::create_directory_symlink(std::filesystem::path(ROOFCAL_SOURCE_DIR) / "calibrate" / "builtin",
                                              folder_.path() / "share" / "builtin");
  }

  [[nodiscard]] Outcome run(const std::string& arguments) const { return roofcal(folder_, arguments); }

  const Folder folder_;
};

TEST_F(ProgramWithBuiltIns, PrefillAndDecodeAreThePhasesOfAttention) {
  const std::string shape = " --gpu b200_sxm --batch 8 --seq 4096 --heads 32 --kv-heads 8 --head-dim 128 --format json";
  for (const auto& [written, meant] : {std::pair{"prefill", "context"}, {"decode", "generation"}}) {
    const Outcome one = run(std::string("predict attention --phase ") + written + shape);
    const Outcome other = run(std::string("predict attention --phase ") + meant + shape);
    ASSERT_EQ(one.status, 0) << one.err;
    EXPECT_EQ(one.out, other.out);
  }
}

}  // namespace
}  // namespace roofcal::cli::testing
