#include "cli/app.h"

#include <gtest/gtest.h>

#include <array>
#include <sstream>

namespace roofcal::cli {
namespace {

TEST(Run, AResultThatCannotBeWrittenIsAFailure) {
  constexpr std::array<const char*, 5> arguments{"roofcal", "gpu", "list", "--db", "/nowhere/roofcal.db"};
  std::ostringstream out;
  std::ostringstream err;
  out.setstate(std::ios::badbit);  // as a full disk leaves it
  EXPECT_EQ(run(arguments.size(), arguments.data(), out, err, false), 1);
  EXPECT_EQ(err.str(), "roofcal: the result could not be written to stdout\n");
}

TEST(Run, ResultsGoToStdoutAndNothingElse) {
  constexpr std::array<const char*, 6> arguments{"roofcal",     "gpu", "list", "--db", "/nowhere/roofcal.db",
                                                 "--format=csv"};
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run(arguments.size(), arguments.data(), out, err, false), 0);
  EXPECT_TRUE(out.str().starts_with("gpu,name,architecture,"));
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace roofcal::cli
