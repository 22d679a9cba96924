#include "core/spelling.h"

#include <gtest/gtest.h>

#include <vector>

namespace roofcal {
namespace {

TEST(EditDistance, CountsInsertionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("predict", "predict"), 0U);
  EXPECT_EQ(edit_distance("predcit", "predict"), 1U);
  EXPECT_EQ(edit_distance("predit", "predict"), 1U);
  EXPECT_EQ(edit_distance("--dtpye", "--dtype"), 1U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Closest, OnlyWhatIsClose) {
  const std::vector<std::string> verbs{"predict", "import", "validate"};
  EXPECT_EQ(closest("predcit", verbs), "predict");
  EXPECT_EQ(closest("improt", verbs), "import");
  EXPECT_EQ(closest("gpu", verbs), std::nullopt);
  EXPECT_EQ(closest("x", std::vector<std::string>{}), std::nullopt);
}

}  // namespace
}  // namespace roofcal
