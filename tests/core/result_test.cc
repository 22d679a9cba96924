#include "core/result.h"

#include <memory>

#include "gtest/gtest.h"

namespace roofcal {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) {
    return Error{ErrorCode::bad_data, "odd"};
  }
  return value / 2;
}

TEST(Result, HoldsAValue) {
  const auto result = half(8);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, 4);
  EXPECT_EQ(result.value(), 4);
}

TEST(Result, HoldsAnError) {
  const auto result = half(3);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::bad_data);
  EXPECT_EQ(result.error().message, "odd");
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  ASSERT_TRUE(result);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, OfVoidIsSuccessUnlessToldOtherwise) {
  EXPECT_TRUE(Result<void>{}.ok());
  const Result<void> failed = Error{ErrorCode::io, "disk full"};
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "disk full");
}

TEST(Result, ErrorsMapToTheExitStatusesOfTheCommandLine) {
  EXPECT_EQ(exit_status(ErrorCode::bad_data), 1);
  EXPECT_EQ(exit_status(ErrorCode::io), 1);
  EXPECT_EQ(exit_status(ErrorCode::usage), 2);
  EXPECT_EQ(exit_status(ErrorCode::not_calibrated), 3);
  EXPECT_EQ(exit_status(ErrorCode::no_gpu), 3);
}

}  // namespace
}  // namespace roofcal
