// `db diff` on stores of tables made by formula.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "calibrate/random.h"
#include "tests/cli/program.h"

namespace roofcal::cli::testing {
namespace {

using nlohmann::json;

// GEMMs of four dtypes with 1 % of noise; `slower` times as long those of fp8.
std::string table(const std::string& version, std::uint64_t seed, double slower) {
  Random random(seed);
  std::string csv = "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n";
  for (const char* dtype : {"bfloat16", "fp8", "fp8_block", "int8_wo"}) {
    for (int m = 1; m <= 4096; m *= 2) {
      for (const int n : {1024, 2048, 4096, 8192}) {
        double noise = -6.0;
        for (int i = 0; i < 12; ++i) noise += random.uniform();
        const double ms = (4e-3 + 1e-9 * m * n) * (1.0 + 0.01 * noise) * (std::string(dtype) == "fp8" ? slower : 1.0);
        char row[160];
        std::snprintf(row, sizeof row, "TRTLLM,%s,NVIDIA H200,gemm,torch_flow,%s,%d,%d,1024,%.9f\n", version.c_str(),
                      dtype, m, n, ms);
        csv += row;
      }
    }
  }
  return csv;
}

class DbDiff : public ::testing::Test {
 protected:
  void store(const std::string& name, const std::string& csv) {
    folder_.write(name + "_perf.csv", csv);
    const Outcome imported = roofcal(folder_, "import --db " + name + ".db " + name + "_perf.csv");
    ASSERT_EQ(imported.status, 0) << imported.err;
  }
  Outcome run(const std::string& arguments) { return roofcal(folder_, "db diff " + arguments); }

  Folder folder_;
};

TEST_F(DbDiff, ATableAgainstItselfIsTheSame) {
  store("a", table("1.0.0", 1, 1.0));
  store("b", table("1.0.0", 2, 1.0));
  const Outcome outcome = run("a.db b.db --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const json out = json::parse(outcome.out);
  EXPECT_EQ(out["same"], 4);
  EXPECT_EQ(out["slower"], 0);
  EXPECT_EQ(out["faster"], 0);
}

TEST_F(DbDiff, FindsTheClassThatBecameSlower) {
  store("a", table("1.0.0", 1, 1.0));
  store("b", table("1.1.0", 2, 1.05));
  const Outcome outcome = run("a.db b.db --format json --worst 3");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json out = json::parse(outcome.out);
  ASSERT_EQ(out["classes"].size(), 4U);
  EXPECT_EQ(out["slower"], 1);
  EXPECT_EQ(out["same"], 3);
  const json& worst = out["classes"][0];
  EXPECT_EQ(worst["kind"], "fp8");
  EXPECT_EQ(worst["verdict"], "slower");
  EXPECT_EQ(worst["version_before"], "1.0.0");
  EXPECT_EQ(worst["version_after"], "1.1.0");
  EXPECT_NEAR(worst["change"].get<double>(), 0.05, 0.01);
  EXPECT_GT(worst["lo"].get<double>(), 0.03);
  EXPECT_LT(worst["lo"].get<double>(), worst["change"].get<double>());
  EXPECT_GT(worst["hi"].get<double>(), worst["change"].get<double>());
  ASSERT_EQ(worst["worst"].size(), 3U);
  EXPECT_GE(worst["worst"][0]["change"], worst["worst"][1]["change"]);
  EXPECT_TRUE(worst["worst"][0].contains("m"));
  EXPECT_EQ(worst["sizes"].size(), 6U);
  // The other way round it became faster.
  EXPECT_EQ(json::parse(run("b.db a.db --format json").out)["faster"], 1);
  // Below a margin of 10 % it is the same.
  EXPECT_EQ(json::parse(run("a.db b.db --format json --margin 10").out)["same"], 4);
}

TEST_F(DbDiff, AsLinesAShapeAndALineASize) {
  store("a", table("1.0.0", 1, 1.0));
  store("b", table("1.0.0", 2, 1.05));
  const json shapes = json::parse(run("a.db b.db --shapes --format json").out);
  ASSERT_EQ(shapes.size(), 4U * 13U * 4U);
  EXPECT_GE(shapes.front()["change"].get<double>(), shapes.back()["change"].get<double>());
  const json sizes = json::parse(run("a.db b.db --sizes --format json").out);
  EXPECT_EQ(sizes.size(), 4U * 6U);
  EXPECT_EQ(sizes.front()["size"], "m");
}

TEST_F(DbDiff, RefusesWhatCannotBeCompared) {
  store("a", table("1.0.0", 1, 1.0));
  const Outcome missing = run("a.db none.db");
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err, "roofcal: there is no store at none.db\n");
  const Outcome nothing = run("a.db a.db --op moe");
  EXPECT_EQ(nothing.status, 3);
  EXPECT_NE(nothing.err.find("no measured shape in common that was asked for"), std::string::npos) << nothing.err;
  EXPECT_EQ(run("a.db a.db --op gem").status, 2);
  EXPECT_EQ(run("a.db a.db --gpu nothing").status, 2);
  EXPECT_EQ(run("a.db a.db --margin -1").status, 2);
  EXPECT_EQ(run("a.db").status, 2);
}

}  // namespace
}  // namespace roofcal::cli::testing
