// The built-in GPU files as they lie in db/catalogue: every figure has its document, every name that a driver gives
// finds its GPU, and the peaks agree with SM count, clock and the rate of the SM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/catalogue.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path folder() { return fs::path(ROOFCAL_SOURCE_DIR) / "db" / "catalogue"; }

/// The files as JSON, by file name without ".json".
std::map<std::string, json> read_files() {
  std::map<std::string, json> files;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    files.emplace(entry.path().stem().string(), json::parse(in));
  }
  return files;
}

std::optional<double> figure(const json& file, const std::string& key) {
  const json& figures = file.at("figures");
  return figures.contains(key) ? std::optional(figures.at(key).at("value").get<double>()) : std::nullopt;
}

class CatalogueFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    auto loaded = GpuCatalogue::load(folder());
    ASSERT_TRUE(loaded) << loaded.error().message;
    catalogue = std::move(*loaded);
    files = read_files();
  }

  std::string name_of(std::string_view asked) const {
    const CatalogueEntry* found = catalogue.find(asked);
    return found == nullptr ? "nothing" : found->spec.name;
  }

  GpuCatalogue catalogue;
  std::map<std::string, json> files;
};

TEST_F(CatalogueFiles, HoldThePartsOfTheContract) {
  std::vector<std::string> names;
  for (const CatalogueEntry* entry : catalogue.all()) names.push_back(entry->spec.name);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"p100_sxm",
                                              "p100_pcie",
                                              "v100_sxm",
                                              "v100_pcie",
                                              "t4",
                                              "a10",
                                              "a30",
                                              "a40",
                                              "a100_sxm",
                                              "a100_sxm_40gb",
                                              "a100_pcie",
                                              "a100_pcie_40gb",
                                              "l4",
                                              "l40s",
                                              "h100_sxm",
                                              "h100_pcie",
                                              "h100_nvl",
                                              "h20_sxm",
                                              "h200_sxm",
                                              "h200_nvl",
                                              "gh200",
                                              "gh200_144gb",
                                              "b100_sxm",
                                              "b200_sxm",
                                              "b300_sxm",
                                              "gb200",
                                              "gb300",
                                              "rtx_4090",
                                              "rtx_5090",
                                              "rtx_6000_ada",
                                              "rtx_pro_6000_server",
                                              "rtx_pro_6000_workstation"}));
  EXPECT_EQ(names.size(), files.size());
}

TEST_F(CatalogueFiles, AreNamedAsTheirGpu) {
  for (const auto& [stem, file] : files) EXPECT_EQ(file.at("name"), stem);
}

TEST_F(CatalogueFiles, NameTheDocumentOfEachFigure) {
  for (const auto& [stem, file] : files) {
    std::set<std::string> used;
    for (const auto& [key, value] : file.at("figures").items()) {
      ASSERT_TRUE(value.is_object()) << stem << " " << key;
      const std::string tag = value.value("source", "");
      ASSERT_TRUE(file.at("sources").contains(tag)) << stem << " " << key << " names the source '" << tag << "'";
      EXPECT_GT(file.at("sources").at(tag).get<std::string>().size(), 20U) << stem << " " << tag;
      used.insert(tag);
    }
    EXPECT_EQ(used.size(), file.at("sources").size()) << stem << " lists a source that no figure uses";
  }
  for (const CatalogueEntry* entry : catalogue.all()) {
    for (const Figure& one : entry->figures) EXPECT_FALSE(one.source.empty()) << entry->spec.name << " " << one.name;
  }
}

TEST_F(CatalogueFiles, ShareNoNameBetweenGpus) {
  std::map<std::string, std::string> owner;
  for (const auto& [stem, file] : files) {
    std::set<std::string> own{normalised_gpu_name(stem)};
    for (const auto& alias : file.at("aliases")) {
      const std::string name = normalised_gpu_name(alias.get<std::string>());
      EXPECT_NE(name, "") << stem;
      own.insert(name);
    }
    for (const std::string& name : own) {
      const auto [at, fresh] = owner.emplace(name, stem);
      EXPECT_TRUE(fresh) << name << " is in " << at->second << " and in " << stem;
    }
  }
}

TEST_F(CatalogueFiles, AreFoundByTheNamesOfDrivers) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"NVIDIA H100 80GB HBM3", "h100_sxm"},
      {"NVIDIA H100 PCIe", "h100_pcie"},
      {"NVIDIA H100 NVL", "h100_nvl"},
      {"NVIDIA A100-SXM4-80GB", "a100_sxm"},
      {"NVIDIA A100-SXM4-40GB", "a100_sxm_40gb"},
      {"NVIDIA A100-PCIE-40GB", "a100_pcie_40gb"},
      {"NVIDIA A100 80GB PCIe", "a100_pcie"},
      {"NVIDIA H200", "h200_sxm"},
      {"NVIDIA H200 NVL", "h200_nvl"},
      {"NVIDIA H20", "h20_sxm"},
      {"NVIDIA B200", "b200_sxm"},
      {"NVIDIA B300 SXM6 AC", "b300_sxm"},
      {"NVIDIA GB200", "gb200"},
      {"NVIDIA GB300", "gb300"},
      {"NVIDIA L40S", "l40s"},
      {"NVIDIA L4", "l4"},
      {"NVIDIA GH200 480GB", "gh200"},
      {"NVIDIA GH200 120GB", "gh200"},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000_server"},
      {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx_pro_6000_workstation"},
      {"NVIDIA GeForce RTX 4090", "rtx_4090"},
      {"NVIDIA GeForce RTX 5090", "rtx_5090"},
      {"NVIDIA RTX 6000 Ada Generation", "rtx_6000_ada"},
      {"Tesla V100-SXM2-16GB", "v100_sxm"},
      {"Tesla V100-SXM2-32GB", "v100_sxm"},
      {"Tesla V100-PCIE-16GB", "v100_pcie"},
      {"Tesla V100-PCIE-32GB", "v100_pcie"},
      {"Tesla T4", "t4"},
      {"Tesla P100-PCIE-16GB", "p100_pcie"},
      {"Tesla P100-SXM2-16GB", "p100_sxm"},
      {"NVIDIA A10", "a10"},
      {"NVIDIA A30", "a30"},
      {"NVIDIA A40", "a40"}};
  for (const auto& [asked, name] : cases) EXPECT_EQ(name_of(asked), name) << asked;
}

TEST_F(CatalogueFiles, AreFoundByWhatUsersWrite) {
  const std::vector<std::pair<std::string, std::string>> cases{{"a100", "a100_sxm"},
                                                               {"h100", "h100_sxm"},
                                                               {"h200", "h200_sxm"},
                                                               {"b100", "b100_sxm"},
                                                               {"b200", "b200_sxm"},
                                                               {"b300", "b300_sxm"},
                                                               {"h20", "h20_sxm"},
                                                               {"v100", "v100_sxm"},
                                                               {"p100", "p100_sxm"},
                                                               {"l4", "l4"},
                                                               {"t4", "t4"},
                                                               {"L40S", "l40s"},
                                                               {"rtx4090", "rtx_4090"},
                                                               {"RTX 5090", "rtx_5090"},
                                                               {"b200-trt", "b200_sxm"},
                                                               {"h200-trt", "h200_sxm"},
                                                               {"h100-sxm", "h100_sxm"},
                                                               {"h200-sxm", "h200_sxm"},
                                                               {"h100-pcie", "h100_pcie"},
                                                               {"h100-nvl", "h100_nvl"},
                                                               {"gb200-trt", "gb200"},
                                                               {"GB300 NVL72", "gb300"},
                                                               {"nvidia_h200", "h200_sxm"},
                                                               {"a100 40gb", "a100_sxm_40gb"}};
  for (const auto& [asked, name] : cases) EXPECT_EQ(name_of(asked), name) << asked;
}

TEST_F(CatalogueFiles, DoNotTakeOtherPartsForTheirOwn) {
  for (const char* other : {"NVIDIA A10G", "NVIDIA L40", "NVIDIA A100X", "NVIDIA H800", "Tesla V100S-PCIE-32GB",
                            "NVIDIA GeForce RTX 4090 D", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"}) {
    EXPECT_EQ(name_of(other), "nothing") << other;
  }
}

/// Dense FP16 FLOP a clock and SM, accumulating in FP32, as the architecture whitepapers up to Hopper have them; 10.x:
/// twice Hopper's, which no document of NVIDIA's states; 12.x: Ada's. P100: CUDA cores.
double float16_flops_per_clock(const std::string& name, const std::string& capability) {
  if (name == "rtx_4090" || name == "rtx_5090") return 512.0;  // GeForce: half rate with FP32 accumulation
  if (name == "h20_sxm") return 1024.0;                        // a quarter of Hopper's, by export rules
  const std::map<std::string, double> rates{{"6.0", 256.0},   {"7.0", 1024.0}, {"7.5", 1024.0}, {"8.0", 2048.0},
                                            {"8.6", 1024.0},  {"8.9", 1024.0}, {"9.0", 4096.0}, {"10.0", 8192.0},
                                            {"10.3", 8192.0}, {"12.0", 1024.0}};
  return rates.at(capability);
}

TEST_F(CatalogueFiles, HavePeaksThatSmCountAndClockGive) {
  for (const auto& [stem, file] : files) {
    const double per_clock =
        *figure(file, "sm_count") * float16_flops_per_clock(stem, file.at("compute_capability").get<std::string>());
    const double peak = figure(file, "float16_flops_per_s").value();
    const double boost = *figure(file, "boost_clock_hz");
    const json& figures = file.at("figures");
    // A tensor clock that was derived from the peak proves nothing of it: then the peak only has to be reachable.
    const bool circular = figures.contains("tensor_clock_hz") && figures.at("tensor_clock_hz").value("derived", false);
    if (circular) {
      EXPECT_LE(peak, per_clock * boost) << stem;
      EXPECT_GE(peak, 0.85 * per_clock * boost) << stem;
    } else {
      EXPECT_NEAR(peak / (per_clock * figure(file, "tensor_clock_hz").value_or(boost)), 1.0, 0.08) << stem;
    }
  }
}

TEST_F(CatalogueFiles, HaveFp32OfTheCudaCores) {
  const std::set<std::string> cores64{"6.0", "7.0", "7.5", "8.0"};
  for (const auto& [stem, file] : files) {
    const double cores = cores64.contains(file.at("compute_capability").get<std::string>()) ? 64.0 : 128.0;
    const double derived = 2.0 * cores * *figure(file, "sm_count") * *figure(file, "boost_clock_hz");
    // The H20's sheet has 44 TFLOP/s, 11 % more than its SMs at the highest clock; its note says so.
    EXPECT_NEAR(figure(file, "fp32_flops_per_s").value() / derived, 1.0, stem == "h20_sxm" ? 0.12 : 0.04) << stem;
  }
}

TEST_F(CatalogueFiles, HaveNarrowTypesAtMultiplesOfWideOnes) {
  for (const auto& [stem, file] : files) {
    const double half = figure(file, "float16_flops_per_s").value();
    if (const auto bf16 = figure(file, "bfloat16_flops_per_s")) {
      EXPECT_DOUBLE_EQ(*bf16, half) << stem;
    }
    if (const auto tf32 = figure(file, "tf32_flops_per_s")) {
      EXPECT_NEAR(*tf32 / half, 0.5, 0.01) << stem;
    }
    // The L40S's datasheet has 733 TFLOP/s of FP8 and 362.05 of BF16, hence not exactly 2.
    if (const auto fp8 = figure(file, "fp8_flops_per_s")) {
      EXPECT_NEAR(*fp8 / half, 2.0, 0.03) << stem;
    }
    if (const auto fp4 = figure(file, "fp4_flops_per_s")) {
      // Blackwell Ultra does FP4 at three times FP8; the GeForce's half rate holds for FP8 and not for FP4.
      const bool ultra = stem == "b300_sxm" || stem == "gb300";
      const double times = ultra ? 6.0 : stem == "rtx_5090" ? 8.0 : 4.0;
      EXPECT_NEAR(*fp4 / half, times, 0.05 * times) << stem;
    }
  }
}

TEST_F(CatalogueFiles, LeaveOutWhatAPartLacks) {
  const auto keys = [&](const std::string& stem) {
    std::set<std::string> out;
    for (const auto& [key, value] : files.at(stem).at("figures").items()) out.insert(key);
    return out;
  };
  for (const char* stem : {"p100_sxm", "p100_pcie", "v100_sxm", "v100_pcie", "t4"}) {
    EXPECT_FALSE(keys(stem).contains("bfloat16_flops_per_s")) << stem;
    EXPECT_FALSE(keys(stem).contains("tf32_flops_per_s")) << stem;
  }
  for (const auto& [stem, file] : files) {
    const double capability = std::stod(file.at("compute_capability").get<std::string>());
    EXPECT_EQ(keys(stem).contains("fp8_flops_per_s"), capability >= 8.9) << stem;
    EXPECT_EQ(keys(stem).contains("fp4_flops_per_s"), capability >= 10.0) << stem;
  }
  for (const char* stem : {"t4", "a10", "l4", "l40s", "rtx_4090", "rtx_5090", "rtx_6000_ada", "rtx_pro_6000_server"}) {
    EXPECT_FALSE(keys(stem).contains("nvlink_bandwidth_bytes_per_s")) << stem;
  }
}

TEST_F(CatalogueFiles, GiveTheL2SixtyFourBytesAClockAndSm) {
  for (const auto& [stem, file] : files) {
    const double expected = 64.0 * *figure(file, "sm_count") * *figure(file, "boost_clock_hz");
    EXPECT_NEAR(figure(file, "l2_bandwidth_bytes_per_s").value() / expected, 1.0, 1e-6) << stem;
    EXPECT_TRUE(file.at("figures").at("l2_bandwidth_bytes_per_s").value("derived", false)) << stem;
  }
}

// A changed figure asks for new fits: these are what the built-in calibrations were made with.
TEST_F(CatalogueFiles, KeepTheFiguresThatCalibrationsWereFittedWith) {
  const auto expect = [&](const char* name, double sms, double clock, double bandwidth, double l2, double bf16) {
    const json& file = files.at(name);
    EXPECT_DOUBLE_EQ(*figure(file, "sm_count"), sms) << name;
    EXPECT_DOUBLE_EQ(*figure(file, "boost_clock_hz"), clock) << name;
    EXPECT_DOUBLE_EQ(*figure(file, "memory_bandwidth_bytes_per_s"), bandwidth) << name;
    EXPECT_DOUBLE_EQ(*figure(file, "l2_bytes"), l2) << name;
    EXPECT_DOUBLE_EQ(*figure(file, "bfloat16_flops_per_s"), bf16) << name;
  };
  constexpr double kMib = 1048576.0;
  expect("a100_sxm", 108, 1.41e9, 2.039e12, 40 * kMib, 312e12);
  expect("h100_sxm", 132, 1.98e9, 3.35e12, 50 * kMib, 989.5e12);
  expect("h200_sxm", 132, 1.98e9, 4.8e12, 60 * kMib, 989.5e12);
  expect("b200_sxm", 148, 1.965e9, 8e12, 126 * kMib, 2.25e15);
  expect("l40s", 142, 2.52e9, 864e9, 96 * kMib, 362.05e12);
}

}  // namespace
}  // namespace roofcal
