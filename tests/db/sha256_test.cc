#include "db/sha256.h"

#include <gtest/gtest.h>

#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

// The examples of FIPS 180-4.
TEST(Sha256, KnownDigests) {
  Sha256 sha;
  EXPECT_EQ(hex(bytes_of(sha.finish())), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  sha.add("abc");
  EXPECT_EQ(hex(bytes_of(sha.finish())), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  sha.add("a");
  sha.add("bc");
  EXPECT_EQ(hex(bytes_of(sha.finish())), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, OfAFile) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(*sha256_of_file(testing::write_file(folder / "a", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(sha256_of_file(folder / "missing"));
}

}  // namespace
}  // namespace roofcal
