// The path of a user, on a table made by formula: import, calibrate, validate, predict, with every exit status.
#include "tests/cli/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace roofcal::cli::testing {
namespace {

using nlohmann::json;

// A launch, then the slower of compute and memory, with H200 figures at 70 % of their peaks: time in milliseconds.
double table_ms(double m, double n, double k) {
  const double compute = 2.0 * m * n * k / (0.7 * 989.5e12);
  const double memory = 2.0 * (m * k + n * k + m * n) / (0.7 * 4.8e12);
  return 1e3 * (4e-6 + std::max(compute, memory));
}

std::string table() {
  std::string csv = "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n";
  for (int m = 1; m <= 8192; m *= 2) {
    for (const int n : {1024, 2048, 4096, 8192, 16384}) {
      for (const int k : {1024, 4096, 8192}) {
        char row[160];
        std::snprintf(row, sizeof row, "TRTLLM,1.0.0,NVIDIA H200,gemm,torch_flow,bfloat16,%d,%d,%d,%.9f\n", m, n, k,
                      table_ms(m, n, k));
        csv += row;
      }
    }
  }
  return csv;
}

constexpr int kRows = 14 * 5 * 3;

// One store for all tests: fitting it takes longer than asking it.
class Program : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    folder_->write("gemm_perf.csv", table());
    imported_ = roofcal(*folder_, "import gemm_perf.csv --format json");
    calibrated_ = roofcal(*folder_, "calibrate --format json");
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static Outcome run(const std::string& arguments, std::string_view input = "") {
    return roofcal(*folder_, arguments, input);
  }

  static inline Folder* folder_ = nullptr;
  static inline Outcome imported_, calibrated_;
};

TEST_F(Program, ImportSaysWhatItStored) {
  ASSERT_EQ(imported_.status, 0) << imported_.err;
  const json report = json::parse(imported_.out);
  EXPECT_EQ(report["stored"], kRows);
  EXPECT_EQ(report["rejected"], 0);
  EXPECT_EQ(report["files"][0]["source"], "aiconfigurator");
  EXPECT_EQ(report["files"][0]["rows"], kRows);
  EXPECT_TRUE(report["files"][0]["reasons"].is_array());
  EXPECT_TRUE(report["files"][0]["warnings"].is_array());
}

TEST_F(Program, ASecondImportStoresNothing) {
  const Outcome again = run("import gemm_perf.csv --format json");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["stored"], 0);
  EXPECT_EQ(json::parse(again.out)["files"][0]["already_there"], kRows);
}

TEST_F(Program, BadRowsAreRejectedWithLineAndReason) {
  const Folder folder;
  folder.write("bad.csv", table() + "TRTLLM,1.0.0,NVIDIA H200,gemm,torch_flow,bfloat16,0,8,8,1\n");
  const Outcome kept = roofcal(folder, "import bad.csv --format json");
  EXPECT_EQ(kept.status, 0);
  const json report = json::parse(kept.out);
  EXPECT_EQ(report["rejected"], 1);
  EXPECT_EQ(report["files"][0]["reasons"][0]["line"], kRows + 2);
  EXPECT_NE(kept.err.find("bad.csv:" + std::to_string(kRows + 2) + ":"), std::string::npos) << kept.err;

  const Folder strict;
  strict.write("bad.csv", folder.read("bad.csv"));
  EXPECT_EQ(roofcal(strict, "import bad.csv --strict").status, 1);
}

TEST_F(Program, OneBadFileDoesNotStopTheOthers) {
  const Folder folder;
  folder.write("a.csv", "nothing,of,the,kind\n1,2,3,4\n");
  folder.write("b.csv", table());
  const Outcome outcome = roofcal(folder, "import a.csv b.csv --format json");
  EXPECT_EQ(outcome.status, 1);
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["stored"], kRows);
  EXPECT_NE(outcome.err.find("a.csv"), std::string::npos);
  // A program that reads only the result hears of it too.
  ASSERT_EQ(report["files"].size(), 2U);
  EXPECT_EQ(report["files"][0]["file"], "a.csv");
  EXPECT_EQ(report["files"][0]["stored"], 0);
  EXPECT_TRUE(report["files"][0]["reasons"][0]["line"].is_null());
  EXPECT_NE(report["files"][0]["reasons"][0]["reason"].get<std::string>().find("latency"), std::string::npos);
}

TEST_F(Program, AnUnreadableFileAloneIsALineForPeopleAndAResultForPrograms) {
  const Folder folder;
  folder.write("a.csv", "nothing,of,the,kind\n1,2,3,4\n");
  const Outcome table = roofcal(folder, "import a.csv");
  EXPECT_EQ(table.status, 1);
  EXPECT_EQ(table.out, "");
  EXPECT_EQ(std::ranges::count(table.err, '\n'), 1);
  const Outcome program = roofcal(folder, "import a.csv --format json");
  EXPECT_EQ(program.status, 1);
  EXPECT_EQ(json::parse(program.out)["files"][0]["file"], "a.csv");
  EXPECT_EQ(program.err, table.err);
}

TEST_F(Program, OneBadFileDoesNotStopTheValidationOfOthers) {
  folder_->write("unreadable.csv", "nothing,of,the,kind\n1,2,3,4\n");
  const Outcome outcome = run("validate unreadable.csv gemm_perf.csv --rows rows_of_two.csv --format json");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(json::parse(outcome.out)["overall"]["n"], kRows);
  EXPECT_NE(outcome.err.find("unreadable.csv"), std::string::npos);
  EXPECT_EQ(std::ranges::count(folder_->read("rows_of_two.csv"), '\n'), kRows + 1);
}

TEST_F(Program, CalibrateReportsEachClass) {
  ASSERT_EQ(calibrated_.status, 0) << calibrated_.err;
  const json report = json::parse(calibrated_.out);
  ASSERT_EQ(report["classes"].size(), 1U);
  const json& fitted = report["classes"][0];
  EXPECT_EQ(fitted["kernel"], "torch_flow");
  EXPECT_EQ(fitted["points"], kRows);
  EXPECT_GT(fitted["kernel_s"], 0.0);
  EXPECT_LT(fitted["mape"], 0.1);
  EXPECT_GT(fitted["coverage90"], 0.5);
}

TEST_F(Program, AMeasuredShapeAnswersWithItsTime) {
  const Outcome outcome = run("predict gemm --gpu 'NVIDIA H200' --m 4096 --n 8192 --k 8192 --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  std::set<std::string> keys;
  for (const auto& item : answer.items()) keys.insert(item.key());
  EXPECT_EQ(keys, (std::set<std::string>{"op", "m", "n", "k", "dtype", "cache", "time_s", "lo_s", "hi_s", "bound",
                                         "roofline_s", "efficiency", "provenance", "gpu", "framework", "version",
                                         "kernel", "nearest", "warnings"}));
  EXPECT_EQ(answer["provenance"], "measured");
  EXPECT_NEAR(answer["time_s"].get<double>(), 1e-3 * table_ms(4096, 8192, 8192), 1e-9);
  EXPECT_LE(answer["lo_s"], answer["time_s"]);
  EXPECT_GE(answer["hi_s"], answer["time_s"]);
  EXPECT_NEAR(answer["efficiency"].get<double>(), answer["roofline_s"].get<double>() / answer["time_s"].get<double>(),
              1e-12);
  EXPECT_EQ(answer["gpu"], "h200_sxm");
  EXPECT_EQ(answer["framework"], "trtllm");
  EXPECT_EQ(answer["version"], "1.0.0");
  EXPECT_EQ(answer["bound"], "compute");
  ASSERT_FALSE(answer["nearest"].empty());
  EXPECT_EQ(answer["nearest"][0]["distance"], 0.0);
  EXPECT_EQ(answer["nearest"][0]["m"], 4096);
}

TEST_F(Program, BetweenMeasuredShapesItInterpolates) {
  const Outcome outcome = run("predict gemm --gpu h200_sxm --m 3000 --n 8192 --k 8192 --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  EXPECT_EQ(answer["provenance"], "interpolated");
  const double truth = 1e-3 * table_ms(3000, 8192, 8192);
  EXPECT_NEAR(answer["time_s"].get<double>(), truth, 0.15 * truth);
  EXPECT_GE(answer["time_s"], answer["roofline_s"]);
}

TEST_F(Program, TheTableIsReadable) {
  const Outcome outcome = run("predict gemm --gpu h200_sxm --m 4096 --n 8192 --k 8192");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* text : {"gemm on h200_sxm: m 4096, n 8192, k 8192, dtype bfloat16, cache hot", "time", " us\n",
                           "90 % interval", "bound", "roofline", "efficiency", " %\n", "TFLOP/s", "provenance",
                           "measured", "kernel", "torch_flow", "nearest calibrated points"}) {
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << "\n" << outcome.out;
  }
}

TEST_F(Program, ListsGiveOneAnswerEachInTheOrderWritten) {
  const Outcome outcome = run("predict gemm --gpu h200_sxm --m 2^0:2^3 --n 8192,1024 --k 8192 --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json answers = json::parse(outcome.out);
  ASSERT_EQ(answers.size(), 8U);
  EXPECT_EQ(answers[0]["m"], 1);
  EXPECT_EQ(answers[0]["n"], 8192);
  EXPECT_EQ(answers[1]["n"], 1024);
  EXPECT_EQ(answers[7]["m"], 8);
}

TEST_F(Program, CsvHasTheSameColumnsForOneAnswerAsForMany) {
  const auto heading = [](const Outcome& outcome) { return outcome.out.substr(0, outcome.out.find('\n')); };
  const Outcome one = run("predict gemm --gpu h200 --m 64 --n 4096 --k 4096 --format csv");
  const Outcome two = run("predict gemm --gpu h200 --m 64,128 --n 4096 --k 4096 --format csv");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(heading(one), heading(two));
  EXPECT_EQ(heading(two).find("nearest"), std::string::npos);  // a list, which no cell holds
}

TEST_F(Program, WarningsOfManyAnswersAreFewLines) {
  const Outcome many = run("predict gemm --gpu h200 --m 100000:101000 --n 4096 --k 4096 --format jsonl");
  ASSERT_EQ(many.status, 0) << many.err;
  EXPECT_EQ(std::ranges::count(many.out, '\n'), 1001);
  EXPECT_LT(std::ranges::count(many.err, '\n'), 30);
  EXPECT_NE(many.err.find("more warnings"), std::string::npos) << many.err.substr(0, 200);
}

TEST_F(Program, SeveralGpusAnswerOneEach) {
  const Outcome outcome = run("predict gemm --gpu h200_sxm,h100_sxm --m 4096 --n 8192 --k 8192 --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json answers = json::parse(outcome.out);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0]["gpu"], "h200_sxm");
  EXPECT_EQ(answers[1]["gpu"], "h100_sxm");
  EXPECT_EQ(answers[1]["provenance"], "transferred");
  EXPECT_FALSE(answers[1]["warnings"].empty());
  EXPECT_NE(outcome.err.find("warning"), std::string::npos);
}

TEST_F(Program, WhatStandsInIsSaidAndStrictRefusesIt) {
  const std::string call = "predict gemm --gpu h200_sxm --m 4096 --n 8192 --k 8192 --format json";
  for (const char* other : {" --framework vllm", " --framework-version 9.9", " --kernel other", " --cache cold"}) {
    const Outcome outcome = run(call + other);
    ASSERT_EQ(outcome.status, 0) << other << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["provenance"], "transferred") << other;
    EXPECT_FALSE(json::parse(outcome.out)["warnings"].empty()) << other;
    const Outcome strict = run(call + other + " --strict");
    EXPECT_EQ(strict.status, 3) << other;
    EXPECT_EQ(strict.out, "") << other;
  }
  EXPECT_EQ(run(call + " --strict").status, 0);
}

TEST_F(Program, BeyondTheLargestSizeItExtrapolates) {
  const std::string call = "predict gemm --gpu h200_sxm --m 1000000 --n 16384 --k 8192 --format json";
  const Outcome outcome = run(call);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  EXPECT_EQ(answer["provenance"], "extrapolated");
  EXPECT_GE(answer["time_s"], answer["roofline_s"]);
  EXPECT_EQ(run(call + " --strict").status, 3);
}

TEST_F(Program, ADtypeThatWasNotCalibratedIsStatus3WithWhatThereIs) {
  const Outcome outcome = run("predict gemm --gpu h200_sxm --m 1 --n 8 --k 8 --dtype fp8");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("dtype=bfloat16"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1);
}

TEST_F(Program, RowsAnswerInOrderAndPassColumnsOn) {
  const Outcome outcome = run("predict rows - --gpu h200_sxm",
                              "id,op,m,n,k,dtype\n"
                              "first,gemm,4096,8192,8192,bf16\n"
                              "\"sec,ond\",gemm,16,8192,8192,\n");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(
      outcome.out.starts_with("id,op,m,n,k,dtype,time_s,lo_s,hi_s,bound,roofline_s,efficiency,provenance,gpu,"
                              "framework,version,kernel,warnings,error\n"))
      << outcome.out;
  EXPECT_NE(outcome.out.find("\nfirst,gemm,4096,8192,8192,bf16,0.00"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\n\"sec,ond\",gemm,16,8192,8192,,"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("not read: id"), std::string::npos) << outcome.err;
}

TEST_F(Program, RowsSayTheSameAsSingleQuestions) {
  const json rows = json::parse(
      run("predict rows - --op gemm --gpu h200_sxm --format json", "m,n,k\n3000,8192,8192\n7,1024,4096\n").out);
  ASSERT_EQ(rows.size(), 2U);
  for (const json& row : rows) {
    const std::string call = "predict gemm --gpu h200_sxm --format json --m " + row["m"].dump() + " --n " +
                             row["n"].dump() + " --k " + row["k"].dump();
    const json alone = json::parse(run(call).out);
    for (const char* key : {"time_s", "lo_s", "hi_s", "roofline_s"}) {
      EXPECT_NEAR(row[key].get<double>(), alone[key].get<double>(), 1e-12 * alone[key].get<double>()) << key;
    }
    EXPECT_EQ(row["provenance"], alone["provenance"]);
    EXPECT_EQ(row["kernel"], alone["kernel"]);
  }
}

TEST_F(Program, ABadRowHasAReasonAndTheRestIsAnswered) {
  const std::string input = "op,m,n,k,dtype\ngemm,0,8,8,\ngemm,16,8192,8192,\ngemm,16,8192,8192,fp8\n";
  const Outcome outcome = run("predict rows - --gpu h200_sxm --format jsonl", input);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("stdin:2: m 0 is outside"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("stdin:4: "), std::string::npos) << outcome.err;
  std::istringstream lines(outcome.out);
  std::string line;
  std::vector<json> answers;
  while (std::getline(lines, line)) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_TRUE(answers[0]["time_s"].is_null());
  EXPECT_FALSE(answers[0]["error"].is_null());
  EXPECT_GT(answers[1]["time_s"], 0.0);
  EXPECT_TRUE(answers[1]["error"].is_null());
  EXPECT_EQ(run("predict rows - --gpu h200_sxm --strict", input).status, 1);
}

TEST_F(Program, StrictRowsStopAtABadRowAsAtBadData) {
  const Outcome outcome = run("predict rows - --strict", "op,m,n,k,gpu\ngemm,16,4096,4096,toaster\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("stdin:2: GPU 'toaster'"), std::string::npos) << outcome.err;
}

TEST_F(Program, RowsStreamThroughManyBlocks) {
  std::string input = "op,m,n,k\n";
  for (int i = 0; i < 20'000; ++i) input += "gemm," + std::to_string(1 + i % 8192) + ",4096,4096\n";
  const Outcome outcome = run("predict rows - --gpu h200_sxm", input);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 20'001);
}

TEST_F(Program, EveryFormatOfRowsHoldsEveryRow) {
  const std::string input = "op,m,n,k\ngemm,1,4096,4096\ngemm,0,1,1\n";
  EXPECT_EQ(std::ranges::count(run("predict rows - --gpu h200_sxm --format md", input).out, '\n'), 4);
  EXPECT_EQ(std::ranges::count(run("predict rows - --gpu h200_sxm --format table", input).out, '\n'), 4);
  EXPECT_EQ(json::parse(run("predict rows - --gpu h200_sxm --format json", input).out).size(), 2U);
}

TEST_F(Program, ValidateGroupsByClass) {
  const Outcome outcome = run("validate gemm_perf.csv --rows rows.csv --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  ASSERT_EQ(report["groups"].size(), 1U);
  const json& group = report["groups"][0];
  EXPECT_EQ(group["gpu"], "h200_sxm");
  EXPECT_EQ(group["op"], "gemm");
  EXPECT_EQ(group["dtype"], "bfloat16");
  EXPECT_EQ(group["n"], kRows);
  EXPECT_NEAR(group["mape"].get<double>(), 0.0, 1e-9);  // every row was measured
  EXPECT_EQ(group["coverage90"], 1.0);
  EXPECT_EQ(group["provenance"]["measured"], kRows);
  EXPECT_EQ(group["unanswered"], 0);
  for (const char* key : {"median_ape", "p90_ape", "p95_ape", "max_ape", "bias", "halfwidth90"}) {
    EXPECT_TRUE(group[key].is_number()) << key;
    EXPECT_TRUE(report["overall"][key].is_number()) << key;
  }
  const std::string rows = folder_->read("rows.csv");
  EXPECT_EQ(std::ranges::count(rows, '\n'), kRows + 1);
  EXPECT_TRUE(
      rows.starts_with("file,line,gpu,op,dtype,framework,version,kernel,cache,m,n,k,measured_s,time_s,lo_s,"
                       "hi_s,error,provenance\n"))
      << rows.substr(0, 200);
}

TEST_F(Program, ValidateNeverWritesOverWhatItReads) {
  folder_->write("kept.csv", table());
  const Outcome outcome = run("validate kept.csv --rows ./kept.csv");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("that is a file to validate"), std::string::npos) << outcome.err;
  EXPECT_EQ(folder_->read("kept.csv"), table());
}

TEST_F(Program, ValidateWithoutACalibrationIsStatus3) {
  const Folder folder;
  folder.write("gemm_perf.csv", table());
  const Outcome outcome = roofcal(folder, "validate gemm_perf.csv --format json");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(json::parse(outcome.out)["groups"][0]["unanswered"], kRows);
  EXPECT_TRUE(json::parse(outcome.out)["overall"]["mape"].is_null());
}

TEST_F(Program, DbInfoCheckAndExport) {
  const json info = json::parse(run("db info --format json").out);
  EXPECT_EQ(info["samples"], kRows);
  EXPECT_EQ(info["runs"], 1);
  EXPECT_EQ(info["list"].size(), 1U);
  const Outcome check = run("db check --format json");
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_EQ(json::parse(check.out)["ok"], true);
  const Outcome exported = run("db export samples.csv");
  ASSERT_EQ(exported.status, 0) << exported.err;
  EXPECT_EQ(std::ranges::count(folder_->read("samples.csv"), '\n'), kRows + 1);
}

TEST_F(Program, AnExportNeverReplacesAStore) {
  ASSERT_EQ(run("import gemm_perf.csv --db precious.db").status, 0);
  EXPECT_EQ(run("db export precious.db --db precious.db").status, 1);
  EXPECT_EQ(run("db check --db precious.db").status, 0);
}

TEST_F(Program, MergeTakesOverAnotherStoreOnce) {
  const Folder folder;
  const std::string other = folder_->path().string() + "/.local/share/roofcal/roofcal.db";
  const Outcome merged = roofcal(folder, "db merge '" + other + "' --format json");
  ASSERT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(json::parse(merged.out)["stored"], kRows);
  const Outcome again = roofcal(folder, "db merge '" + other + "' --format json");
  EXPECT_EQ(json::parse(again.out)["stored"], 0);
  // Its calibration came along.
  EXPECT_EQ(roofcal(folder, "predict gemm --gpu h200_sxm --m 3000 --n 8192 --k 8192 --strict").status, 0);
  EXPECT_EQ(run("db merge .local/share/roofcal/roofcal.db").status, 2);
}

TEST_F(Program, AFileThatIsNoStoreIsRefusedInOneLine) {
  const Folder folder;
  folder.write("foreign.db", "this is no database, however long the text is that stands in it");
  for (const char* call : {"db info", "calibrate", "import x.csv", "predict gemm --gpu h200_sxm --m 1 --n 1 --k 1"}) {
    folder.write("x.csv", table());
    const Outcome outcome = roofcal(folder, std::string(call) + " --db foreign.db");
    EXPECT_EQ(outcome.status, 1) << call;
    EXPECT_NE(outcome.err.find("foreign.db"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
}

TEST_F(Program, GpuAddKeepsAGpuInTheStore) {
  const Folder folder;
  std::string text = roofcal(folder, "gpu show h200_sxm --format json").out;
  std::ostringstream entry;
  entry << std::ifstream(folder.path() / "share" / "catalogue" / "h200_sxm.json").rdbuf();
  json own = json::parse(entry.str());
  own["name"] = "my_gpu";
  own["display_name"] = "My GPU";
  own["aliases"] = json::array();
  folder.write("my_gpu.json", own.dump());
  ASSERT_EQ(roofcal(folder, "gpu add my_gpu.json").status, 0);
  const Outcome shown = roofcal(folder, "gpu show 'MY GPU' --format json");
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(json::parse(shown.out)["origin"], "store");
  EXPECT_GT(json::parse(shown.out)["figures"].size(), 5U);
}

TEST_F(Program, DoctorAlwaysAnswers) {
  const Folder folder;
  const Outcome outcome = roofcal(folder, "doctor --format json");
  EXPECT_EQ(outcome.status, 0);
  std::set<std::string> what;
  for (const json& finding : json::parse(outcome.out)) what.insert(finding["what"].get<std::string>());
  for (const char* name :
       {"roofcal", "store", "GPU catalogue", "built-in calibrations", "GPU driver", "CUDA toolkit", "NCCL", "cuDNN"}) {
    EXPECT_TRUE(what.contains(name)) << name;
  }
}

TEST_F(Program, EveryVerbHasHelpWithAnExample) {
  for (const char* verb :
       {"import",          "calibrate", "validate",  "predict",  "predict gemm", "predict rows", "predict model",
        "predict serving", "gpu",       "gpu list",  "gpu show", "gpu add",      "gpu what-if",  "db",
        "db info",         "db check",  "db export", "db merge", "db diff",      "search",       "compare",
        "sweep",           "plan",      "measure",   "report",   "doctor"}) {
    const Outcome outcome = run(std::string(verb) + " --help");
    EXPECT_EQ(outcome.status, 0) << verb << outcome.err;
    EXPECT_NE(outcome.out.find("  roofcal " + std::string(verb)), std::string::npos) << verb << "\n" << outcome.out;
    EXPECT_EQ(outcome.err, "") << verb;
  }
}

}  // namespace
}  // namespace roofcal::cli::testing
