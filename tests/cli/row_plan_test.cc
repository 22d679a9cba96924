#include "cli/row_plan.h"

#include <gtest/gtest.h>

#include "core/gemm.h"

namespace roofcal::cli {
namespace {

Result<RowPlan> plan_of(std::string_view header) {
  std::vector<Cell> cells;
  std::vector<std::unique_ptr<std::string>> scratch;
  EXPECT_TRUE(split_cells(header, cells, scratch).ok());
  return RowPlan::from_header(cells);
}

TEST(RowPlan, NamesAreFoundWhateverTheirCaseAndDashes) {
  const auto plan = plan_of("ID,M,n,k,Dtype,framework-version");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->column("id"), 0);
  EXPECT_EQ(plan->column("m"), 1);
  EXPECT_EQ(plan->column("version"), 5);
  EXPECT_EQ(plan->column("gpu"), -1);
  const FieldColumns columns = plan->field_columns(gemm_operator());
  EXPECT_EQ(columns.column[0], 1);
  EXPECT_EQ(columns.column[2], 3);
}

TEST(RowPlan, SizesArePartOfNoQuestion) {
  const auto plan = plan_of("m,n,k,dtype,gpu,cache,note");
  ASSERT_TRUE(plan.ok());
  const auto question = plan->question_columns();
  EXPECT_EQ(std::vector<int>(question.begin(), question.end()), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(plan->unread(), (std::vector<std::string>{"note"}));
  EXPECT_TRUE(plan->numeric(0));
  EXPECT_FALSE(plan->numeric(3));
}

TEST(RowPlan, AColumnTwiceIsRefused) {
  EXPECT_FALSE(plan_of("m,n,M").ok());
  EXPECT_FALSE(plan_of("m,version,framework_version").ok());
}

}  // namespace
}  // namespace roofcal::cli
