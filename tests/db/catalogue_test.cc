#include "db/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

using nlohmann::json;
using testing::catalogue;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json small_gpu() {
  return {{"name", "future1"},
          {"aliases", {"NVIDIA Future 1"}},
          {"figures",
           {{"sm_count", 100},
            {"boost_clock_hz", 2e9},
            {"memory_bytes", 1e11},
            {"memory_bandwidth_bytes_per_s", 5e12},
            {"l2_bytes", 5e7},
            {"bfloat16_flops_per_s", {{"value", 1e15}, {"source", "ds"}, {"note", "dense"}}}}},
          {"sources", {{"ds", "The datasheet, 2026"}}}};
}

std::string complaint(const json& gpu) {
  GpuCatalogue fresh;
  const auto added = fresh.add(gpu.dump(), "future.json", "store");
  return added ? "added" : added.error().message;
}

TEST(Catalogue, BuiltInFilesAllLoadWithSources) {
  EXPECT_GE(catalogue().all().size(), 5U);
  for (const CatalogueEntry* entry : catalogue().all()) {
    EXPECT_EQ(entry->origin, "builtin");
    EXPECT_FALSE(entry->spec.architecture.empty()) << entry->spec.name;
    EXPECT_FALSE(entry->spec.compute_capability.empty()) << entry->spec.name;
    for (const Figure& figure : entry->figures)
      EXPECT_FALSE(figure.source.empty()) << entry->spec.name << " " << figure.name;
    EXPECT_GT(entry->spec.l2_bandwidth.value(), entry->spec.memory_bandwidth.value()) << entry->spec.name;
    EXPECT_TRUE(entry->spec.has(Rate::fp32) || entry->spec.has(Rate::float16)) << entry->spec.name;
  }
}

TEST(Catalogue, NamesAsUsersAndDriversWriteThem) {
  for (const char* name : {"h200_sxm", "NVIDIA H200", "H200-SXM", "h200", "nvidia_h200"}) {
    const GpuSpec* gpu = catalogue().spec(name);
    ASSERT_NE(gpu, nullptr) << name;
    EXPECT_EQ(gpu->name, "h200_sxm") << name;
  }
  for (const auto& [written, meant] : {std::pair{"NVIDIA H100 SXM5", "h100_sxm"},
                                       {"NVIDIA DGX B200", "b200_sxm"},
                                       {"NVIDIA RTX 6000 Ada", "rtx_6000_ada"}}) {
    const GpuSpec* gpu = catalogue().spec(written);
    ASSERT_NE(gpu, nullptr) << written;
    EXPECT_EQ(gpu->name, meant);
  }
  EXPECT_EQ(catalogue().spec("h2000"), nullptr);
  EXPECT_EQ(catalogue().spec(""), nullptr);
  EXPECT_THAT(catalogue().suggestions("h2000_sxm"), Contains("h200_sxm"));
  EXPECT_THAT(catalogue().suggestions("NVIDIA A100-SXM4-40GB MIG 3g.20gb"), ElementsAre("a100_sxm_40gb"));
  EXPECT_TRUE(catalogue().suggestions("a toaster of my own").empty());
}

TEST(Catalogue, AUsersFile) {
  GpuCatalogue fresh;
  ASSERT_TRUE(fresh.add(small_gpu().dump(), "future.json", "store"));
  const CatalogueEntry* entry = fresh.find("nvidia future-1");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->origin, "store");
  EXPECT_EQ(entry->spec.sm_count, 100);
  EXPECT_EQ(entry->spec.peak(Rate::bfloat16).value(), 1e15);
  EXPECT_FALSE(entry->spec.has(Rate::fp8));
  EXPECT_EQ(entry->spec.l2_bandwidth.value(), 64.0 * 100 * 2e9) << "derived: 64 bytes a clock and SM";
  const auto figure = std::ranges::find(entry->figures, "bfloat16_flops_per_s", &Figure::name);
  ASSERT_NE(figure, entry->figures.end());
  EXPECT_EQ(figure->source, "The datasheet, 2026");
  EXPECT_EQ(figure->note, "dense");
}

TEST(Catalogue, ALaterFileReplacesAnEntryAndItsNames) {
  GpuCatalogue fresh;
  ASSERT_TRUE(fresh.add(small_gpu().dump(), "a", "builtin"));
  json again = small_gpu();
  again["figures"]["sm_count"] = 120;
  again["aliases"] = json::array({"Other"});
  ASSERT_TRUE(fresh.add(again.dump(), "b", "store"));
  EXPECT_EQ(fresh.all().size(), 1U);
  EXPECT_EQ(fresh.spec("other")->sm_count, 120);
  EXPECT_EQ(fresh.find("future1")->origin, "store");
}

TEST(Catalogue, MissingFiguresAreNamed) {
  for (const char* needed :
       {"sm_count", "boost_clock_hz", "memory_bytes", "memory_bandwidth_bytes_per_s", "l2_bytes"}) {
    json gpu = small_gpu();
    gpu["figures"].erase(needed);
    EXPECT_THAT(complaint(gpu), HasSubstr(std::string("future.json: figures.") + needed + " is missing"));
  }
  json gpu = small_gpu();
  gpu["figures"].erase("bfloat16_flops_per_s");
  EXPECT_THAT(complaint(gpu), HasSubstr("no arithmetic peak"));
  gpu = small_gpu();
  gpu.erase("name");
  EXPECT_THAT(complaint(gpu), HasSubstr("\"name\" is missing"));
  gpu = small_gpu();
  gpu.erase("figures");
  EXPECT_THAT(complaint(gpu), HasSubstr("\"figures\" is missing"));
}

TEST(Catalogue, FiguresThatCannotBeAreNamed) {
  const auto with = [](const char* key, const json& value) {
    json gpu = small_gpu();
    gpu["figures"][key] = value;
    return complaint(gpu);
  };
  for (const json& value : {json(-1), json(0), json("1e12"), json(nullptr), json(true), json(json::array({1}))}) {
    EXPECT_THAT(with("memory_bandwidth_bytes_per_s", value), HasSubstr("figures.memory_bandwidth_bytes_per_s"))
        << value;
    EXPECT_THAT(with("memory_bandwidth_bytes_per_s", {{"value", value}}),
                HasSubstr("figures.memory_bandwidth_bytes_per_s"))
        << value;
  }
  EXPECT_THAT(with("memory_bandwidth_bytes_per_s", json::object()), HasSubstr("has no value"));
  EXPECT_THAT(with("memory_bandwidth_bytes_per_s", 1.1e15), HasSubstr("figures.memory_bandwidth_bytes_per_s"));
  EXPECT_THAT(with("boost_clock_hz", 1980e9), HasSubstr("figures.boost_clock_hz"));
  EXPECT_THAT(with("boost_clock_hz", 1980), HasSubstr("figures.boost_clock_hz"));
  EXPECT_THAT(with("sm_count", 131.5), HasSubstr("figures.sm_count"));
  EXPECT_THAT(with("sm_count", 1e12), HasSubstr("figures.sm_count"));
  EXPECT_THAT(with("memory_bytes", 141), HasSubstr("figures.memory_bytes"));
  EXPECT_THAT(with("bfloat16_flops_per_s", 989), HasSubstr("figures.bfloat16_flops_per_s"));
  EXPECT_THAT(with("tdp_w", 700e3), HasSubstr("figures.tdp_w"));
  EXPECT_THAT(with("tdp_w", {{"value", 700}, {"source", 5}}), HasSubstr("figures.tdp_w"));
}

TEST(Catalogue, FilesThatAreNone) {
  GpuCatalogue fresh;
  EXPECT_THAT(fresh.add("{", "x.json", "store").error().message, HasSubstr("x.json: not a JSON object"));
  EXPECT_THAT(fresh.add("[1]", "x.json", "store").error().message, HasSubstr("not a JSON object"));
  EXPECT_THAT(fresh.add("", "x.json", "store").error().message, HasSubstr("not a JSON object"));
  json gpu = small_gpu();
  gpu["aliases"] = "one";
  EXPECT_THAT(complaint(gpu), HasSubstr("aliases"));
  gpu["aliases"] = {1};
  EXPECT_THAT(complaint(gpu), HasSubstr("aliases"));
  gpu = small_gpu();
  gpu["name"] = "  --  ";
  EXPECT_THAT(complaint(gpu), HasSubstr("name"));
}

TEST(Catalogue, ANameBelongsToOneGpu) {
  GpuCatalogue fresh;
  ASSERT_TRUE(fresh.add(small_gpu().dump(), "a.json", "builtin"));
  json other = small_gpu();
  other["name"] = "future2";
  const auto added = fresh.add(other.dump(), "b.json", "store");
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("already means future1"));
  EXPECT_EQ(fresh.find("future2"), nullptr);
}

TEST(Catalogue, AFolderThatIsMissing) { EXPECT_FALSE(GpuCatalogue::load("/no/such/folder")); }

TEST(Catalogue, ABadFileInAFolderIsNamed) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder / "a.json", small_gpu().dump());
  testing::write_file(folder / "b.json", "{}");
  testing::write_file(folder / "readme.txt", "not a GPU");
  const auto loaded = GpuCatalogue::load(folder / ".");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("b.json"));
}

}  // namespace
}  // namespace roofcal
