#include "db/export.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "db/cell_text.h"
#include "db/import.h"
#include "db/json_text.h"
#include "db/roofcal_table.h"
#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;
using testing::catalogue;
using testing::everything;
using testing::gemm_sample;
using ::testing::HasSubstr;
using testing::must;
using testing::read_file;
using testing::store_all;
using testing::TemporaryFolder;
using testing::test_run;

// Text that a cell can hold: UTF-8 without NUL, with what CSV finds hard.
rc::Gen<std::string> text() {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                          "a", "B", "7", " ", ",", "\"", "\n", "\r", "\t", ";", "{", "\\", "\xc3\xa9", "\xe2\x82\xac")),
                      [](const std::vector<std::string>& parts) {
                        std::string out;
                        for (const std::string& part : parts) out += part;
                        return out;
                      });
}

// Any finite number, denormal ones and both zeros among them.
rc::Gen<double> figure() {
  return rc::gen::suchThat(
      rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), [](std::uint64_t bits) { return std::bit_cast<double>(bits); }),
      [](double value) { return std::isfinite(value); });
}

rc::Gen<std::optional<double>> maybe_figure() {
  return rc::gen::map(rc::gen::maybe(figure()), [](const rc::Maybe<double>& value) {
    return value ? std::optional(*value + 0.0) : std::nullopt;  // the store keeps no sign of a zero
  });
}

rc::Gen<std::optional<std::int64_t>> maybe_count() {
  return rc::gen::map(rc::gen::maybe(rc::gen::arbitrary<std::int64_t>()), [](const rc::Maybe<std::int64_t>& value) {
    return value ? std::optional(*value) : std::nullopt;
  });
}

rc::Gen<std::string> point_in_time() {
  return rc::gen::element<std::string>("", "2026-12-01T14:00:00Z", "1999-02-28T23:59:60.125Z");
}

template <class Value>
rc::Gen<std::map<std::string, Value>> names_with(const rc::Gen<Value>& value) {
  return rc::gen::container<std::map<std::string, Value>>(text(), value);
}

// Values of attributes that every operator's domain has.
std::string any_attribute(const AttributeField& attribute) {
  static const std::vector<std::string> candidates{"bfloat16", "fp8", "all_reduce", "all_gather", "2",     "8",
                                                   "node",     "yes", "no",         "hot",        "switch"};
  std::vector<std::string> fitting;
  for (const std::string& candidate : candidates) {
    if (const auto value = attribute.canonical(candidate)) fitting.push_back(*value);
  }
  return *rc::gen::elementOf(fitting);
}

StoredSample any_sample() {
  StoredSample sample;
  const auto gpus = catalogue().all();
  sample.key.gpu = gpus[*rc::gen::inRange<std::size_t>(0, gpus.size())]->spec.name;
  if (*rc::gen::inRange(0, 4) == 0) {
    sample.kind = *rc::gen::element<std::string>("step", "serving", "kernel");
    sample.key.op = "x" + *text();
    for (const auto& [name, value] : *names_with(text())) sample.key.attributes.emplace(name, value);
    sample.sizes = *names_with(rc::gen::arbitrary<std::int64_t>());
  } else {
    const auto operators = all_operators();
    const Operator& op = *operators[*rc::gen::inRange<std::size_t>(0, operators.size())];
    sample.key.op = op.name();
    for (const AttributeField& attribute : op.attributes()) {
      sample.key.attributes.emplace(attribute.name, any_attribute(attribute));
    }
    sample.shape = Shape(op.fields().size());
    for (std::size_t i = 0; i < sample.shape.size(); ++i) {
      const Field& field = op.fields()[i];
      sample.shape[i] =
          *rc::gen::inRange(field.min, std::max(field.min + 1, std::min<std::int64_t>(field.max, 1 << 20)));
    }
    RC_PRE(op.check(sample.key.attributes, sample.shape).ok());
  }
  sample.key.framework = *text();
  sample.key.version = *text();
  sample.key.kernel = *text();
  sample.key.cache = *rc::gen::element(CacheMode::hot, CacheMode::cold);
  sample.time =
      Seconds(*rc::gen::suchThat(figure(), [](double value) { return value > 0.0 && value <= kLongestTimeSeconds; }));
  sample.count = *maybe_count();
  sample.p10_s = *maybe_figure();
  sample.p90_s = *maybe_figure();
  sample.relative_error = *maybe_figure();
  sample.raw_s = *rc::gen::container<std::vector<double>>(figure());
  sample.sm_clock_hz = *maybe_figure();
  sample.power_w = *maybe_figure();
  sample.power_limit_w = *maybe_figure();
  sample.batch_count = *maybe_count();
  for (std::string* one : {&sample.launch_mode, &sample.layout, &sample.epilogue, &sample.data_fill, &sample.algorithm,
                           &sample.flags, &sample.device}) {
    *one = *text();
  }
  sample.measured_utc = *point_in_time();
  sample.metrics = *names_with(figure());
  sample.nodes = *maybe_count();
  sample.extra = *names_with(text());
  return sample;
}

Run any_run() {
  Run run;
  run.source = "s" + *text();
  run.gpu = "h200_sxm";
  for (std::string* one : {&run.origin, &run.content_hash}) *one = "o" + *text();
  run.started_utc = *point_in_time();
  run.ended_utc = *point_in_time();
  run.extra = *names_with(text());
  return run;
}

RC_GTEST_PROP(Export, ImporterOfExporterIsIdentity, ()) {
  const TemporaryFolder folder;
  Store store = must(Store::open(folder / "a.db", Store::Access::write));
  const auto runs = *rc::gen::inRange(1, 3);
  for (int i = 0; i < runs; ++i) {
    std::vector<StoredSample> samples;
    const auto count = *rc::gen::inRange(1, 4);
    for (int k = 0; k < count; ++k) samples.push_back(any_sample());
    store_all(store, any_run(), samples);
  }
  const fs::path file = folder / *rc::gen::element<std::string>("out.csv", "out.csv.gz");
  RC_ASSERT(must(export_samples(store, {}, file)) == must(store.info()).samples);

  Store copy = must(Store::open(folder / "b.db", Store::Access::write));
  const FileReport report = must(import_file(copy, file, catalogue(), {}));
  RC_ASSERT(report.rejected == 0);
  RC_ASSERT(report.source == "roofcal");
  RC_ASSERT(everything(copy) == everything(store));
  RC_ASSERT(must(copy.check()).empty());
  RC_ASSERT(must(import_file(store, file, catalogue(), {})).stored == 0);
}

class ExportTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  Store store_ = must(Store::open(folder_ / "store.db", Store::Access::write));
};

TEST_F(ExportTest, ColumnsByName) {
  store_all(store_, test_run(), {gemm_sample(16, 0.1 + 0.2)});
  const fs::path file = folder_ / "out.csv";
  EXPECT_EQ(must(export_samples(store_, {}, file)), 1);
  const std::string written = read_file(file);
  EXPECT_TRUE(written.starts_with("kind,op,gpu,framework,version,kernel,cache,time_s,count,"));
  EXPECT_THAT(written, HasSubstr(",run_extra,dtype,m,n,k\n"));
  EXPECT_THAT(written, HasSubstr("operator,gemm,h200_sxm,trtllm,1.0,torch_flow,hot,0.30000000000000004,"));
  EXPECT_THAT(written, HasSubstr(",bfloat16,16,4096,8192\n"));
}

TEST_F(ExportTest, AFilterChooses) {
  StoredSample other = gemm_sample(1, 1e-5);
  other.key.framework = "vllm";
  store_all(store_, test_run(), {gemm_sample(1, 1e-5), other});
  EXPECT_EQ(must(export_samples(store_, {"", "", "vllm", "", ""}, folder_ / "out.csv")), 1);
  EXPECT_EQ(must(export_samples(store_, {"b200_sxm", "", "", "", ""}, folder_ / "out.csv")), 0);
}

TEST_F(ExportTest, ATableWrittenByHand) {
  const auto file = testing::write_file(folder_ / "hand.csv", "op,gpu,m,n,k,time_s\ngemm,H200,16,64,32,30e-6\n");
  EXPECT_EQ(must(import_file(store_, file, catalogue(), {})).stored, 1);
  const auto got = everything(store_);
  EXPECT_EQ(got[0].first.source, "roofcal");
  EXPECT_THAT(got[0].first.origin, HasSubstr("hand.csv"));
  EXPECT_EQ(got[0].second.time.value(), 30e-6);
  EXPECT_EQ(got[0].second.key.attributes, (Attributes{{"dtype", "bfloat16"}}));
}

TEST_F(ExportTest, BadRowsOfATableOfOurs) {
  const std::string header = "op,gpu,m,n,k,time_s,cache,count,p10_s,raw_s,extra,started_utc\n";
  const auto file = testing::write_file(
      folder_ / "bad.csv", header + "gemm,H200,16,64,32,1e-5,hot,3,1e-6,1;2,\"{\"\"a\"\":\"\"b\"\"}\",\n" +
                               "gemm,H200,16,64,32,0,hot,,,,,\n" + "gemm,H200,16,64,32,1,tepid,,,,,\n" +
                               "gemm,H200,16,64,32,1,hot,2.5,,,,\n" + "gemm,H200,16,64,32,1,hot,,nan,,,\n" +
                               "gemm,H200,16,64,32,1,hot,,,1;;2,,\n" + "gemm,H200,16,64,32,1,hot,,,,[1],\n" +
                               "gemm,H200,16,64,32,1,hot,,,,\"{\"\"a\"\":\"\"\\u0000\"\"}\",\n" +
                               "gemm,H200,16,64,32,1,hot,,,,,yesterday\n" + "gemm,H200,,64,32,1,hot,,,,,\n" +
                               "conv,H200,1,64,32,1,hot,,,,,\n" + "gemm,toaster,1,64,32,1,hot,,,,,\n");
  const FileReport report = must(import_file(store_, file, catalogue(), {}));
  EXPECT_EQ(report.stored, 1);
  std::vector<std::string> reasons;
  for (const Rejected& rejected : report.reasons) reasons.push_back(rejected.reason);
  EXPECT_THAT(reasons, ::testing::ElementsAre(HasSubstr("time_s '0'"), HasSubstr("cache 'tepid'"),
                                              HasSubstr("count '2.5'"), HasSubstr("p10_s 'nan'"), HasSubstr("raw_s ''"),
                                              HasSubstr("extra"), HasSubstr("a holds a NUL byte"),
                                              HasSubstr("started_utc 'yesterday'"), HasSubstr("gemm needs m"),
                                              HasSubstr("'conv' is not known"), HasSubstr("'toaster'")));
}

TEST_F(ExportTest, AFileThatCannotBeWrittenLeavesNothing) {
  store_all(store_, test_run(), {gemm_sample(1, 1e-5)});
  const auto written = export_samples(store_, {}, folder_ / "no/such/folder/out.csv");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::io);
  fs::create_directory(folder_ / "taken.csv");
  EXPECT_FALSE(export_samples(store_, {}, folder_ / "taken.csv"));
  int left = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / ".")) left += entry.path().extension() == ".tmp" ? 1 : 0;
  EXPECT_EQ(left, 0);
}

TEST_F(ExportTest, AStoreIsNeverReplaced) {
  store_all(store_, test_run(), {gemm_sample(1, 1e-5)});
  const auto other = folder_ / "other.db";
  { const Store made = must(Store::open(other, Store::Access::write)); }
  const std::string before = testing::read_file(other);
  const auto written = export_samples(store_, {}, other);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("it is a database"));
  EXPECT_EQ(testing::read_file(other), before);
}

TEST_F(ExportTest, ALinkIsFollowedAndAPipeIsWrittenTo) {
  store_all(store_, test_run(), {gemm_sample(1, 1e-5)});
  testing::write_file(folder_ / "real.csv", "old\n");
  fs::create_symlink("real.csv", folder_ / "link.csv");
  ASSERT_EQ(must(export_samples(store_, {}, folder_ / "link.csv")), 1);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.csv"));
  EXPECT_THAT(testing::read_file(folder_ / "real.csv"), HasSubstr("gemm"));

  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const int reader = open((folder_ / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(must(export_samples(store_, {}, folder_ / "pipe")), 1);
  std::string got(1 << 12, '\0');
  EXPECT_GT(read(reader, got.data(), got.size()), 0);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

TEST(RoofcalTable, NoOperatorHasAColumnOfTheTablesOwn) {
  const std::set<std::string_view> own(kRoofcalColumns.begin(), kRoofcalColumns.end());
  EXPECT_EQ(own.size(), kRoofcalColumns.size());
  for (const Operator* op : all_operators()) {
    for (const Field& field : op->fields()) EXPECT_FALSE(own.contains(table_column(field.name))) << field.name;
    for (const AttributeField& attribute : op->attributes()) {
      EXPECT_FALSE(own.contains(table_column(attribute.name))) << attribute.name;
    }
  }
}

}  // namespace
}  // namespace roofcal
