#include "db/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;
using testing::catalogue;
using ::testing::ElementsAre;
using testing::everything;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::must;
using ::testing::SizeIs;
using testing::write_file;
using testing::write_gzip;

constexpr std::string_view kHeader = "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n";
constexpr std::string_view kGood = "TRTLLM,1.0,NVIDIA H200,gemm,torch_flow,bfloat16,16,4096,8192,0.05\n";

class ImportTest : public ::testing::Test {
 protected:
  Result<FileReport> import(std::string_view text, const ImportOptions& options = {},
                            const char* name = "gemm_perf.csv") {
    return import_file(store_, write_file(folder_ / name, text), catalogue(), options);
  }
  // A good row and one with something else in a column's place: the reason for which the second is rejected.
  std::string reason(const std::string& column, const std::string& cell) {
    const std::vector<std::string> columns{"framework",  "version", "device", "op_name", "kernel_source",
                                           "gemm_dtype", "m",       "n",      "k",       "latency"};
    std::vector<std::string> row{"TRTLLM",   "1.0", "NVIDIA H200", "gemm", "torch_flow",
                                 "bfloat16", "3",   "4096",        "64",   "1"};
    row.at(static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin())) = cell;
    const FileReport report = must(import(fmt::format("{}{}{}\n{}", kHeader, kGood, fmt::join(row, ","), kGood)));
    EXPECT_EQ(report.rows, 3);
    EXPECT_EQ(report.stored + report.already_there, report.reasons.empty() ? 3 : 2) << column << " " << cell;
    if (report.reasons.empty()) return "";
    EXPECT_EQ(report.rejected, 1);
    EXPECT_EQ(report.reasons.at(0).line, 3);
    return report.reasons.at(0).reason;
  }

  testing::TemporaryFolder folder_;
  Store store_ = must(Store::open(folder_ / "store.db", Store::Access::write));
};

TEST_F(ImportTest, ARow) {
  const FileReport report = must(import(std::string(kHeader) + std::string(kGood)));
  EXPECT_EQ(report.source, "aiconfigurator");
  EXPECT_EQ(report.rows, 1);
  EXPECT_EQ(report.stored, 1);
  EXPECT_EQ(report.rejected, 0);
  const auto got = everything(store_);
  ASSERT_THAT(got, SizeIs(1));
  const auto& [run, sample] = got[0];
  EXPECT_EQ(sample.key.op, "gemm");
  EXPECT_EQ(sample.key.gpu, "h200_sxm");
  EXPECT_EQ(sample.key.framework, "trtllm");
  EXPECT_EQ(sample.key.version, "1.0");
  EXPECT_EQ(sample.key.kernel, "torch_flow");
  EXPECT_EQ(sample.key.attributes, (Attributes{{"dtype", "bfloat16"}}));
  EXPECT_EQ(sample.key.cache, CacheMode::hot);
  EXPECT_EQ(sample.shape, (Shape{16, 4096, 8192}));
  EXPECT_DOUBLE_EQ(sample.time.value(), 0.05e-3);
  EXPECT_EQ(sample.launch_mode, "graph");
  EXPECT_EQ(run.source, "aiconfigurator");
  EXPECT_EQ(run.gpu, "h200_sxm");
  EXPECT_EQ(run.content_hash.size(), 64U);
  EXPECT_THAT(run.origin, HasSubstr("gemm_perf.csv"));
}

TEST_F(ImportTest, AnyOrderASubsetMarksLineEndsAndGzipAreTheSame) {
  ASSERT_TRUE(import(std::string(kHeader) + std::string(kGood)));
  const std::string other_order =
      "latency,k,n,m,gemm_dtype,kernel_source,op_name,device,version,framework\n"
      "0.05,8192,4096,16,bfloat16,torch_flow,gemm,NVIDIA H200,1.0,TRTLLM\n";
  EXPECT_EQ(must(import(other_order)).already_there, 1);
  EXPECT_EQ(must(import("\xEF\xBB\xBF" + other_order)).already_there, 1);
  std::string crlf = other_order;
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) crlf.replace(at, 1, "\r\n");
  EXPECT_EQ(must(import(crlf)).already_there, 1);
  EXPECT_EQ(must(import_file(store_, write_gzip(folder_ / "a.csv.gz", other_order), catalogue(), {})).already_there, 1);
  EXPECT_EQ(must(import("\"latency\",k,n,m,gemm_dtype,kernel_source,op_name,device,version,framework\n"
                        "0.05,8192,4096,16,\"bfloat16\",torch_flow,gemm,\"NVIDIA H200\",1.0,TRTLLM\n"))
                .already_there,
            1);
  EXPECT_EQ(must(store_.info()).samples, 1);
  const FileReport subset = must(import("m,n,k,gemm_dtype,latency\n16,4096,8192,bf16,0.05\n", {"H200", "auto", false}));
  EXPECT_EQ(subset.stored, 1);
  EXPECT_EQ(everything(store_).back().second.key.framework, "");
}

TEST_F(ImportTest, ASecondImportStoresNothing) {
  const std::string text = std::string(kHeader) + std::string(kGood) + "TRTLLM,1.0,NVIDIA H200,gemm,x,fp8,1,2,3,4\n";
  EXPECT_EQ(must(import(text)).stored, 2);
  const FileReport again = must(import(text, {}, "another_name.csv"));
  EXPECT_EQ(again.rows, 2);
  EXPECT_EQ(again.stored, 0);
  EXPECT_EQ(again.already_there, 2);
  EXPECT_EQ(must(store_.info()).runs, 1);
}

TEST_F(ImportTest, IdenticalRowsCountOnceAndRepeatsAreKept) {
  const std::string repeat = "TRTLLM,1.0,NVIDIA H200,gemm,torch_flow,bfloat16,16,4096,8192,0.06\n";
  const FileReport report =
      must(import(std::string(kHeader) + std::string(kGood) + repeat + std::string(kGood) + repeat));
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(report.stored, 2);
  EXPECT_EQ(report.already_there, 2);
  EXPECT_THAT(must(store_.samples(everything(store_)[0].second.key)), SizeIs(2));
}

TEST_F(ImportTest, ColumnsNobodyForesawAreKeptByName) {
  const std::string header = "device,op_name,gemm_dtype,m,n,k,power,power_limit,backend,latency\n";
  const FileReport report = must(import(header + "H200,gemm,fp8,1,2,3,650.5,700,one,0.1\n" +
                                        "H200,gemm,fp8,1,2,3,650.5,700,two,0.1\n" + "H200,gemm,fp8,1,2,3,,n/a,,0.1\n"));
  EXPECT_EQ(report.stored, 3) << "rows that differ in one column are two";
  const auto got = everything(store_);
  EXPECT_EQ(got[0].second.power_w, 650.5);
  EXPECT_EQ(got[0].second.power_limit_w, 700.0);
  EXPECT_EQ(got[0].second.extra, (std::map<std::string, std::string>{{"backend", "one"}}));
  EXPECT_EQ(got[1].second.extra.at("backend"), "two");
  EXPECT_FALSE(got[2].second.power_w);
  EXPECT_EQ(got[2].second.extra, (std::map<std::string, std::string>{{"power_limit", "n/a"}}));
}

TEST_F(ImportTest, RowsThatDifferInOneColumnAreTwoEvenWhereTheirSampleIsOne) {
  const std::string rows =
      "device,op_name,nccl_dtype,num_gpus,message_size,latency\n"
      "H200,all_gather,half,2,256,0.005\n"
      "H200,all_gather,int8,2,512,0.005\n"
      "H200,all_gather,half,2,256,0.005\n";
  const FileReport report = must(import(rows, {}, "nccl_perf.csv"));
  EXPECT_EQ(report.rejected, 0);
  EXPECT_EQ(report.stored, 2);
  EXPECT_EQ(report.already_there, 1);
}

TEST_F(ImportTest, BadCellsAreRejectedWithLineAndReason) {
  EXPECT_EQ(reason("latency", ""), "latency is empty");
  EXPECT_EQ(reason("latency", "fast"), "latency 'fast' is not a number");
  EXPECT_EQ(reason("latency", "1.5ms"), "latency '1.5ms' is not a number");
  EXPECT_EQ(reason("latency", "1e999"), "latency '1e999' is not a number");
  EXPECT_EQ(reason("latency", "0"), "latency '0' is not a positive time");
  EXPECT_EQ(reason("latency", "-1"), "latency '-1' is not a positive time");
  EXPECT_EQ(reason("latency", "nan"), "latency 'nan' is not a positive time");
  EXPECT_EQ(reason("latency", "inf"), "latency 'inf' is not a positive time");
  EXPECT_EQ(reason("latency", "1e300"), "latency '1e300' ms is more than a day: is it in other units?");
  EXPECT_THAT(reason("m", "0"), HasSubstr("m 0 is outside"));
  EXPECT_THAT(reason("n", "-4096"), HasSubstr("n -4096 is outside"));
  EXPECT_THAT(reason("k", ""), HasSubstr("k is empty"));
  EXPECT_THAT(reason("k", "8.5"), HasSubstr("'8.5' is not a whole number"));
  EXPECT_THAT(reason("k", "99999999999999999999"), HasSubstr("k"));
  EXPECT_THAT(reason("gemm_dtype", "int3"), HasSubstr("'int3' is not known"));
  EXPECT_THAT(reason("gemm_dtype", ""), HasSubstr("gemm_dtype is empty"));
  EXPECT_EQ(reason("op_name", "conv"), "operator 'conv' is not known to this version");
  EXPECT_THAT(reason("device", "NVIDIA H2000"), HasSubstr("'NVIDIA H2000' is not in the catalogue"));
  EXPECT_THAT(reason("device", "NVIDIA H2000"), HasSubstr("--gpu"));
  EXPECT_THAT(reason("device", ""), HasSubstr("--gpu"));
  EXPECT_EQ(reason("kernel_source", "\xff"), "kernel_source is not UTF-8 text");
  EXPECT_EQ(reason("kernel_source", std::string("a\0b", 3)), "kernel_source holds a NUL byte");
  EXPECT_EQ(reason("latency", "1,2"), "11 cells where the header has 10");
  EXPECT_EQ(reason("kernel_source", ""), "") << "a kernel without a name is one";
  EXPECT_EQ(reason("latency", " 2 "), "");
}

TEST_F(ImportTest, ShortRows) {
  const FileReport report = must(import(std::string(kHeader) + "TRTLLM,1.0\n" + std::string(kGood)));
  EXPECT_EQ(report.stored, 1);
  ASSERT_THAT(report.reasons, SizeIs(1));
  EXPECT_EQ(report.reasons[0].line, 2);
  EXPECT_EQ(report.reasons[0].reason, "2 cells where the header has 10");
}

TEST_F(ImportTest, OnlyTheFirstReasonsAreKeptButAllAreCounted) {
  std::string text(kHeader);
  for (int i = 0; i < 100; ++i) text += "x\n";
  const FileReport report = must(import(text + std::string(kGood)));
  EXPECT_EQ(report.rejected, 100);
  EXPECT_THAT(report.reasons, SizeIs(20));
  EXPECT_EQ(report.stored, 1);
}

TEST_F(ImportTest, StrictFailsOnTheFirstBadRowAndStoresNothing) {
  const auto report = import(std::string(kHeader) + std::string(kGood) + "x\n", {"", "auto", true});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("gemm_perf.csv:3: 1 cells"));
  EXPECT_EQ(must(store_.info()).samples, 0);
}

TEST_F(ImportTest, HeadersWithoutWhatIsNeeded) {
  const auto complaint = [&](std::string_view text, const ImportOptions& options = {}) {
    const auto report = import(text, options);
    EXPECT_FALSE(report) << text;
    return report ? "" : report.error().message;
  };
  EXPECT_THAT(complaint("framework,m,n,k\na,1,2,3\n"), HasSubstr("column latency"));
  EXPECT_THAT(complaint("framework,m,n,k\na,1,2,3\n"), HasSubstr("the header has framework, m, n, k"));
  EXPECT_THAT(complaint("m,n,k\n1,2,3\n", {"", "aiconfigurator", false}), HasSubstr("column latency is missing"));
  EXPECT_THAT(complaint("m,n,k,gemm_dtype,latency\n1,2,3,fp8,1\n"), HasSubstr("--gpu"));
  EXPECT_THAT(complaint("device,op_name,m,k,gemm_dtype,latency\nH200,gemm,1,3,fp8,1\n"),
              HasSubstr("n: no such column; the header has device, op_name, m, k"));
  EXPECT_THAT(complaint("device,op_name,m,latency\nH200,gemm,1,1\nH200,gemm,x,1\n"),
              HasSubstr("gemm_perf.csv: gemm_dtype, n, k: no such column"))
      << "all of them";
  EXPECT_THAT(complaint("op,n,m,time_s\ngemm,1,2,3\n"), HasSubstr("--gpu"));
  EXPECT_THAT(complaint("gpu,time_s\nh200,3\n"), HasSubstr("column op is missing"));
  EXPECT_THAT(complaint(""), HasSubstr("is empty"));
  EXPECT_EQ(must(store_.info()).samples, 0);
}

TEST_F(ImportTest, AnOperatorWithoutAColumnForIt) {
  const std::string rows = "device,gemm_dtype,m,n,k,latency\nH200,fp8,1,2,3,1\n";
  EXPECT_EQ(must(import(rows, {}, "gemm_perf.csv")).stored, 1);
  EXPECT_EQ(must(import(rows, {}, "whatever.csv")).already_there, 1) << "by its columns";
  const auto other = import("device,x,latency\nH200,fp8,1\n", {}, "whatever.csv");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("op_name: no such column, and the others fit no operator"));
}

TEST_F(ImportTest, CollectivesOfNcclAreNccls) {
  const std::string rows =
      "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency\n"
      "TRTLLM,2.29.2,NVIDIA H200,all_gather,NCCL,half,2,256,0.005\n"
      "TRTLLM,2.29.2,NVIDIA H200,all_gather,NCCL,half,2,512,0.006\n";
  const FileReport plain = must(import(rows, {}, "nccl_perf.csv"));
  EXPECT_EQ(plain.stored, 2);
  EXPECT_THAT(plain.warnings, IsEmpty());
  const auto first = everything(store_)[0].second;
  EXPECT_EQ(first.key.framework, "nccl");
  EXPECT_EQ(first.key.version, "2.29.2") << "no folder says otherwise";
  EXPECT_EQ(first.shape, (Shape{512})) << "bytes";
  EXPECT_EQ(first.extra, (std::map<std::string, std::string>{
                             {"framework", "TRTLLM"}, {"nccl_dtype", "half"}, {"message_size", "256"}}))
      << "what the sample says otherwise is kept as it was";
  EXPECT_EQ(first.launch_mode, "") << "not said";

  // As the public tables lie: their readers go by the folder, whatever the column says.
  fs::create_directories(folder_ / "nccl/2.26.2");
  const FileReport placed = must(import(rows, {}, "nccl/2.26.2/nccl_perf.csv"));
  EXPECT_EQ(placed.stored, 2);
  EXPECT_THAT(placed.warnings, ElementsAre("the version column says 2.29.2, the folder nccl 2.26.2, which counts"));
  EXPECT_EQ(everything(store_)[2].second.key.version, "2.26.2");

  EXPECT_EQ(must(import("framework,version,device,op_name,kernel_source,allreduce_dtype,num_gpus,message_size,latency\n"
                        "vLLM,0.24.0,H200,all_reduce,vLLM_custom_eager,half,2,256,0.005\n"
                        "vLLM,0.24.0,H200,all_reduce,vLLM_custom_graph,half,2,256,0.005\n",
                        {}, "custom_allreduce_perf.csv"))
                .stored,
            2);
  const auto all = everything(store_);
  EXPECT_EQ(all[4].second.key.framework, "vllm");
  EXPECT_EQ(all[4].second.launch_mode, "stream");
  EXPECT_EQ(all[5].second.launch_mode, "graph");
}

TEST_F(ImportTest, TheGpuChosenWins) {
  EXPECT_EQ(must(import(std::string(kHeader) + std::string(kGood), {"NVIDIA B200", "auto", false})).stored, 1);
  EXPECT_EQ(everything(store_)[0].second.key.gpu, "b200_sxm");
  const auto unknown = import(std::string(kHeader) + std::string(kGood), {"h2000_sxm", "auto", false});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::usage);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean h200_sxm"));
}

TEST_F(ImportTest, ASourceOfALaterVersion) {
  const auto report = import(std::string(kHeader), {"", "nccl-tests", false});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::usage);
  EXPECT_THAT(report.error().message, HasSubstr("nccl-tests"));
}

TEST_F(ImportTest, ATableWithoutRows) {
  const FileReport report = must(import(kHeader));
  EXPECT_EQ(report.rows, 0);
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("no rows")));
  EXPECT_EQ(must(store_.info()).runs, 0);
}

TEST_F(ImportTest, AFileCutOffKeepsItsWholeRows) {
  std::string text(kHeader);
  for (int m = 1; m <= 20'000; ++m)
    text += fmt::format("TRTLLM,1.0,NVIDIA H200,gemm,k,fp8,{},{},64,0.{}\n", m, m * 7 % 4999 + 1, m);
  const auto file = write_gzip(folder_ / "cut.csv.gz", text);
  fs::resize_file(file, fs::file_size(file) / 2);
  const FileReport report = must(import_file(store_, file, catalogue(), {}));
  EXPECT_GT(report.stored, 5'000);
  EXPECT_EQ(report.rejected, 1);
  EXPECT_EQ(report.rows, report.stored + 1);
  EXPECT_EQ(report.reasons.at(0).line, report.stored + 2);
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("cut off")));
  EXPECT_FALSE(import_file(store_, file, catalogue(), {"", "auto", true}));
  EXPECT_EQ(must(import(text)).stored, 20'000 - report.stored) << "the whole file brings the rest";
  EXPECT_THAT(must(store_.check()), IsEmpty());
}

TEST_F(ImportTest, DamagedDataStoreNothing) {
  std::string text(kHeader);
  for (int m = 1; m <= 20'000; ++m) text += fmt::format("TRTLLM,1.0,NVIDIA H200,gemm,k,fp8,{},64,64,0.{}\n", m, m);
  const auto file = write_gzip(folder_ / "bad.csv.gz", text);
  std::string bytes = testing::read_file(file);
  bytes[bytes.size() - 6] ^= 0x55;
  write_file(file, bytes);
  const auto report = import_file(store_, file, catalogue(), {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("damaged gzip data"));
  EXPECT_EQ(must(store_.info()).samples, 0);
}

TEST_F(ImportTest, FilesOfAFolder) {
  fs::create_directories(folder_ / "data/b");
  write_file(folder_ / "data/b/two.csv.gz", "");
  write_file(folder_ / "data/b/one.csv", "");
  write_file(folder_ / "data/readme.txt", "");
  fs::create_symlink("nowhere", folder_ / "data/gone.csv");
  EXPECT_THAT(must(measurement_files(folder_ / "data")),
              ElementsAre(folder_ / "data/b/one.csv", folder_ / "data/b/two.csv.gz"));
  EXPECT_THAT(must(measurement_files(folder_ / "data/readme.txt")), SizeIs(1));
  EXPECT_FALSE(measurement_files(folder_ / "missing"));
}

TEST_F(ImportTest, PublicTablesOfEveryOperator) {
  const char* given = std::getenv("ROOFCAL_DATA");
  const fs::path data = given != nullptr ? fs::path(given) : fs::path(ROOFCAL_SOURCE_DIR).parent_path() / "shared/data";
  const fs::path folder = data / "silicon/h200_sxm";
  if (!fs::exists(folder)) GTEST_SKIP() << "no measurements at " << folder << ": set ROOFCAL_DATA";
  std::int64_t rows = 0;
  for (const fs::path& file : must(measurement_files(folder))) {
    if (fs::file_size(file) > 100'000) continue;  // the small tables of each family say enough
    const FileReport report = must(import_file(store_, file, catalogue(), {}));
    EXPECT_EQ(report.stored + report.already_there + report.rejected, report.rows) << file;
    EXPECT_GT(report.stored, 0) << file;
    EXPECT_EQ(report.rejected, 0) << file << ": " << report.reasons.at(0).reason;
    rows += report.rows;
  }
  EXPECT_GT(rows, 0);
  EXPECT_THAT(must(store_.check()), IsEmpty());
}

}  // namespace
}  // namespace roofcal
