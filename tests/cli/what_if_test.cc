// `gpu what-if`: the GPU that it makes is one for every verb.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.h"

namespace roofcal::cli::testing {
namespace {

using nlohmann::json;

TEST(GpuWhatIf, MakesAGpuThatTheCatalogueHas) {
  const Folder folder;
  const Outcome made = roofcal(folder, "gpu what-if h200_sxm --set mem_bw=8TB/s,sms=160 --name future1 --format json");
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.err, "");
  const json figures = json::parse(made.out)["figures"];
  EXPECT_EQ(figures[0]["figure"], "sm_count");
  EXPECT_EQ(figures[0]["before"], 132.0);
  EXPECT_EQ(figures[0]["after"], 160.0);
  const json shown = json::parse(roofcal(folder, "gpu show future1 --format json").out);
  EXPECT_EQ(shown["origin"], "store");
  EXPECT_EQ(shown["architecture"], "hopper");
  // Made again with other figures, it says that it replaces the first.
  const Outcome again = roofcal(folder, "gpu what-if h200_sxm --set mem_bw=2x --name future1");
  EXPECT_EQ(again.status, 0);
  EXPECT_NE(again.err.find("replaces"), std::string::npos) << again.err;
  // And another can be made of it.
  EXPECT_EQ(roofcal(folder, "gpu what-if future1 --set l2=2x --name future2").status, 0);
}

TEST(GpuWhatIf, RefusesWithoutStoringAnything) {
  const Folder folder;
  for (const char* arguments : {"h200_sxm --set mem_bw=20TB/s --name f", "h200_sxm --set mem_bw=2x --name h100",
                                "h200_sxm --set mem_bw=2x,mem_bw=3x --name f", "nothing --set mem_bw=2x --name f",
                                "h200_sxm --set mem_bw=2x --name '...'", "h200_sxm --set mem_bw=2x --name h200_sxm",
                                "h200_sxm --set tdp=1MW --name f", "h200_sxm --name f"}) {
    const Outcome refused = roofcal(folder, std::string("gpu what-if ") + arguments);
    EXPECT_EQ(refused.status, 2) << arguments << ": " << refused.err;
    EXPECT_EQ(refused.out, "") << arguments;
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  }
  EXPECT_EQ(roofcal(folder, "db info").status, 1);  // there is no store
}

}  // namespace
}  // namespace roofcal::cli::testing
