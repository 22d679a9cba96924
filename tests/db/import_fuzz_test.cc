// Whatever a file holds, the importer answers: it neither crashes nor stores what it cannot read back.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "db/import.h"
#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

using testing::catalogue;
using testing::everything;
using testing::must;
using testing::TemporaryFolder;
using testing::write_file;

// Reads a file in every way there is; what is stored reads back.
void expect_an_answer(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto file = write_file(folder / "fuzz_perf.csv", bytes);
  Store store = must(Store::open(folder / "store.db", Store::Access::write));
  for (const char* source : {"auto", "aiconfigurator", "roofcal"}) {
    const auto report = import_file(store, file, catalogue(), {"h200_sxm", source, false});
    if (report) {
      RC_ASSERT(report->rows == report->stored + report->already_there + report->rejected);
    } else {
      RC_ASSERT(report.error().message.find('\n') == std::string::npos);
    }
  }
  RC_ASSERT(static_cast<std::int64_t>(everything(store).size()) == must(store.info()).samples);
  RC_ASSERT(must(store.check()).empty());
}

RC_GTEST_PROP(ImportFuzz, RandomBytes, (const std::string& bytes)) { expect_an_answer(bytes); }

RC_GTEST_PROP(ImportFuzz, RandomGzip, (const std::string& bytes)) { expect_an_answer("\x1f\x8b\x08" + bytes); }

RC_GTEST_PROP(ImportFuzz, RandomRows, (const std::string& bytes)) {
  expect_an_answer("op_name,gemm_dtype,m,n,k,latency,kernel_source\ngemm,fp8,1,2,3,4," + bytes + "\n");
  expect_an_answer("op,dtype,m,n,k,time_s,extra,metrics,raw_s\ngemm,fp8,1,2,3,4," + bytes + "\n");
}

RC_GTEST_PROP(ImportFuzz, ATableWithBytesChanged, (const std::vector<std::pair<unsigned, char>>& changes)) {
  std::string bytes =
      "framework,version,op_name,kernel_source,gemm_dtype,m,n,k,latency\n"
      "TRTLLM,1.0,gemm,\"torch, flow\",bfloat16,16,4096,8192,0.05\r\n"
      "VLLM,1.0,gemm,cutlass,fp8,1,64,8192,1e-3\n";
  for (const auto& [at, byte] : changes) bytes[at % bytes.size()] = byte;
  expect_an_answer(bytes);
}

}  // namespace
}  // namespace roofcal
