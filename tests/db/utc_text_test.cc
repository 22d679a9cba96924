#include "db/utc_text.h"

#include <gtest/gtest.h>

namespace roofcal {
namespace {

TEST(UtcText, Times) {
  for (const char* good :
       {"2026-12-01T14:00:00Z", "2024-02-29T00:00:00Z", "2016-12-31T23:59:60Z", "2026-12-01T14:00:00.123456789Z"}) {
    EXPECT_TRUE(is_utc_text(good)) << good;
  }
  for (const char* bad :
       {"", "2026-12-01", "2026-12-01T14:00:00", "2026-12-01 14:00:00Z", "2026-12-01T14:00:00+01:00",
        "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-12-01T24:00:00Z",
        "2026-12-01T14:60:00Z", "2026-12-01T14:00:61Z", "2026-12-01T14:00:00.Z", "2026-12-01T14:00:00.1",
        "2026-12-01T14:00:00ZZ", "2026-12-01T1x:00:00Z", "yesterday, when all was well"}) {
    EXPECT_FALSE(is_utc_text(bad)) << bad;
  }
}

TEST(UtcText, Now) { EXPECT_TRUE(is_utc_text(now_utc_text())) << now_utc_text(); }

}  // namespace
}  // namespace roofcal
