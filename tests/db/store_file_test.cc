// What may lie where a store is looked for, and stores of older and newer versions.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "db/migrations.h"
#include "db/sample_row.h"
#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

namespace fs = std::filesystem;
using testing::everything;
using testing::gemm_sample;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::must;
using testing::read_file;
using testing::store_all;
using testing::test_run;
using testing::write_file;

class StoreFileTest : public ::testing::Test {
 protected:
  void make_store(int samples = 1) {
    Store store = must(Store::open(file_, Store::Access::write));
    std::vector<StoredSample> all;
    for (int i = 1; i <= samples; ++i) all.push_back(gemm_sample(i, 1e-5));
    store_all(store, test_run(), all);
  }

  void sql(const std::string& text) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &handle), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_free(message);
    sqlite3_close(handle);
  }

  // Refused on either access, with one line that names the file, and left as it was with nothing beside it.
  void expect_refused(const std::string& reason) const {
    const std::string before = read_file(file_);
    for (const auto access : {Store::Access::read, Store::Access::write}) {
      const auto store = Store::open(file_, access);
      ASSERT_FALSE(store);
      EXPECT_EQ(store.error().code, ErrorCode::bad_data);
      EXPECT_THAT(store.error().message, HasSubstr(reason));
      EXPECT_THAT(store.error().message, HasSubstr(file_.string()));
      EXPECT_EQ(store.error().message.find('\n'), std::string::npos);
    }
    EXPECT_EQ(read_file(file_), before);
    EXPECT_FALSE(fs::exists(file_.string() + "-wal"));
    EXPECT_FALSE(fs::exists(file_.string() + "-shm"));
    EXPECT_FALSE(fs::exists(file_.string() + "-journal"));
  }

  testing::TemporaryFolder folder_;
  fs::path file_ = folder_ / "store.db";
};

TEST_F(StoreFileTest, SettingsOfANewStore) {
  make_store();
  auto database = must(sqlite::Database::open(file_, sqlite::Database::Mode::read));
  EXPECT_EQ(must(database->integer("PRAGMA application_id")), kApplicationId);
  EXPECT_EQ(must(database->integer("PRAGMA user_version")), newest_schema_version());
  auto mode = must(database->prepare("PRAGMA journal_mode"));
  ASSERT_TRUE(must(mode.step()));
  EXPECT_EQ(mode.text(0), "wal");
  EXPECT_EQ(
      must(database->integer("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict = 0 AND name "
                             "NOT LIKE 'sqlite%'")),
      0)
      << "every table is STRICT";
}

TEST_F(StoreFileTest, NothingThere) {
  const auto read = Store::open(file_, Store::Access::read);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("there is no store"));
  EXPECT_FALSE(fs::exists(file_));
  write_file(file_, "");
  EXPECT_TRUE(Store::open(file_, Store::Access::write)) << "an empty file is as good as none";
  EXPECT_TRUE(Store::open(file_, Store::Access::read));
}

TEST_F(StoreFileTest, TextIsNoStore) {
  write_file(file_, "m,n,k,latency\n1,2,3,4\n");
  expect_refused("is no SQLite file, not a store of roofcal");
}

TEST_F(StoreFileTest, GarbageIsNoStore) {
  std::string bytes(10'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 131 % 251);
  write_file(file_, bytes);
  expect_refused("is no SQLite file");
}

TEST_F(StoreFileTest, AnotherProgramsDatabase) {
  sql("CREATE TABLE notes(text); INSERT INTO notes VALUES('mine')");
  expect_refused("another program's SQLite file");
}

TEST_F(StoreFileTest, AnotherProgramsDatabaseWithAVersionOfOurs) {
  sql(fmt::format("CREATE TABLE runs(text); PRAGMA user_version = {}", newest_schema_version()));
  expect_refused("another program's SQLite file");
}

TEST_F(StoreFileTest, AFolder) {
  EXPECT_THAT(Store::open(folder_ / ".", Store::Access::write).error().message, HasSubstr("is a folder"));
}

TEST_F(StoreFileTest, ANewerStoreIsRefusedUntouched) {
  make_store();
  sql(fmt::format("PRAGMA user_version = {}", newest_schema_version() + 1));
  expect_refused("written by a newer roofcal");
}

TEST_F(StoreFileTest, ANewerStoreAtWorkIsRefusedUntouched) {
  make_store();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &handle), SQLITE_OK);
  const std::string mark = fmt::format("PRAGMA user_version = {}", newest_schema_version() + 1);
  ASSERT_EQ(sqlite3_exec(handle, mark.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);  // in the WAL, not in the file
  const std::string before = read_file(file_);
  const std::string wal = read_file(file_.string() + "-wal");
  ASSERT_FALSE(wal.empty());
  for (const auto access : {Store::Access::read, Store::Access::write}) {
    const auto store = Store::open(file_, access);
    ASSERT_FALSE(store);
    EXPECT_THAT(store.error().message, HasSubstr("written by a newer roofcal"));
  }
  EXPECT_EQ(read_file(file_), before);
  EXPECT_EQ(read_file(file_.string() + "-wal"), wal);
  sqlite3_close(handle);
}

TEST_F(StoreFileTest, AMediumThatCannotBeWritten) {
  file_ = folder_ / "a b%41?#.db";
  make_store(3);
  const auto database = must(sqlite::Database::open(file_, sqlite::Database::Mode::immutable));
  EXPECT_EQ(must(database->integer("SELECT count(*) FROM samples")), 3);
  EXPECT_FALSE(fs::exists(file_.string() + "-shm"));
}

TEST_F(StoreFileTest, AStoreOpenedToReadIsNotWritten) {
  make_store();
  Store store = must(Store::open(file_, Store::Access::read));
  const auto put = store.put_gpu("x", "{}");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::io);
  EXPECT_EQ(must(store.info()).gpus, 0);
}

TEST_F(StoreFileTest, TheFileAloneHoldsAllThatWasStored) {
  make_store();
  {
    // The last to close only reads: it cannot clear the write-ahead log away.
    const Store reader = must(Store::open(file_, Store::Access::read));
    EXPECT_EQ(must(reader.info()).gpus, 0);
    Store writer = must(Store::open(file_, Store::Access::write));
    must(writer.put_gpu("mine", "{}"));
  }
  fs::copy_file(file_, folder_ / "copy.db");
  EXPECT_EQ(must(must(Store::open(folder_ / "copy.db", Store::Access::read)).gpus()).size(), 1U);
}

TEST_F(StoreFileTest, ATruncatedStore) {
  make_store(5000);
  fs::resize_file(file_, fs::file_size(file_) / 2);
  expect_refused("the store is damaged");
}

TEST_F(StoreFileTest, DamagedPagesAreSaidByCheckAndByReading) {
  make_store(5000);
  std::string bytes = read_file(file_);
  for (std::size_t i = bytes.size() / 4; i < bytes.size() * 3 / 4; ++i) bytes[i] = static_cast<char>(i * 37 % 253);
  write_file(file_, bytes);
  const auto store = Store::open(file_, Store::Access::read);
  if (!store) {
    EXPECT_THAT(store.error().message, HasSubstr("damaged"));
    return;
  }
  const auto findings = must(store->check());
  EXPECT_THAT(findings, ::testing::Not(IsEmpty()));
  const auto samples = store->samples(gemm_sample(1, 1e-5).key);
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().code, ErrorCode::bad_data);
  EXPECT_EQ(samples.error().message.find('\n'), std::string::npos);
}

TEST_F(StoreFileTest, AFolderThatCannotBeMade) {
  write_file(folder_ / "plain", "x");
  const auto store = Store::open(folder_ / "plain/store.db", Store::Access::write);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::io);
  EXPECT_THAT(store.error().message, HasSubstr("cannot make the folder"));
}

TEST_F(StoreFileTest, NamesThatSqliteWouldTakeForSomethingElse) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_ / ".");
  for (const char* name : {"file:x?mode=memory", ":memory:", "a b%41#.db"}) {
    {
      Store store = must(Store::open(name, Store::Access::write));
      store_all(store, test_run(), {gemm_sample(1, 1e-5)});
    }
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
    EXPECT_EQ(must(must(Store::open(name, Store::Access::read)).info()).samples, 1);
  }
  fs::current_path(before);
}

// A store as version `from` left it, written by the SQL of that version alone.
void make_old_store(const fs::path& file, int from) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  const auto run = [&](const std::string& text) {
    char* message = nullptr;
    ASSERT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  };
  for (int i = 0; i < from; ++i) run(std::string(migrations()[static_cast<std::size_t>(i)]));
  run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, from));
  // The hash of a sample does not depend on columns that came later.
  const StoredSample sample = gemm_sample(7, 2.5e-5);
  const SampleRow row = sample_row(sample, ShapeText(*find_operator("gemm")).write(sample.shape));
  const std::string hash = SampleHasher().hash("test", ClassRow::of("operator", sample.key).digest(), row);
  RunDigest digest;
  digest.add(hash);
  Run of = test_run();
  of.gpu = "h200_sxm";
  run(fmt::format(
      "INSERT INTO runs VALUES(1, 'test', 'a test', '', 'h200_sxm', '2026-12-01T14:00:00Z', '', '{{}}', "
      "'2026-12-01T14:00:00Z');"
      "INSERT INTO classes(id, op, gpu, framework, version, kernel, attributes, cache) VALUES(1, 'gemm', 'h200_sxm', "
      "'trtllm', '1.0', 'torch_flow', '{{\"dtype\":\"bfloat16\"}}', 'hot');"
      "INSERT INTO samples(run_id, class_id, hash, shape, time_s) VALUES(1, 1, x'{}', "
      "'{{\"m\":7,\"n\":4096,\"k\":8192}}', 2.5e-5);"
      "INSERT INTO run_digests VALUES(1, 1, x'{}');"
      "INSERT INTO gpus VALUES('future1', '{{}}', '2026-12-01T14:00:00Z')",
      hex(hash), hex(bytes_of(digest.finish(of)))));
  sqlite3_close(handle);
}

class Migration : public StoreFileTest, public ::testing::WithParamInterface<std::pair<int, Store::Access>> {};

TEST_P(Migration, KeepsEverything) {
  const auto [from, access] = GetParam();
  make_old_store(file_, from);
  {
    const Store store = must(Store::open(file_, access));
    EXPECT_EQ(must(store.info()).schema_version, newest_schema_version());
    const auto got = everything(store);
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].second, gemm_sample(7, 2.5e-5));
    EXPECT_EQ(must(store.gpus()).count("future1"), 1U);
    EXPECT_THAT(must(store.check()), IsEmpty());
  }
  Store store = must(Store::open(file_, Store::Access::write));
  StoredSample step;
  step.kind = "step";
  step.key.op = "a model";
  step.key.gpu = "h200_sxm";
  step.time = Seconds(0.01);
  EXPECT_EQ(store_all(store, test_run(), {step, gemm_sample(7, 2.5e-5)}).stored, 1) << "the old sample is known";
  EXPECT_THAT(must(store.check()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(FromEachVersion, Migration,
                         ::testing::Values(std::pair(1, Store::Access::write), std::pair(1, Store::Access::read),
                                           std::pair(2, Store::Access::write), std::pair(2, Store::Access::read)));

TEST_F(StoreFileTest, EveryVersionIsTested) { EXPECT_EQ(newest_schema_version(), 2) << "add it to FromEachVersion"; }

TEST_F(StoreFileTest, AMigrationThatFailsLeavesTheOldStore) {
  make_old_store(file_, 1);
  sql("ALTER TABLE samples ADD COLUMN device TEXT");  // in the way of the second step, which has added others by then
  EXPECT_FALSE(Store::open(file_, Store::Access::write));
  const auto database = must(sqlite::Database::open(file_, sqlite::Database::Mode::read));
  EXPECT_EQ(must(database->integer("PRAGMA user_version")), 1);
  EXPECT_EQ(must(database->integer("SELECT count(*) FROM pragma_table_info('samples') WHERE name = 'metrics'")), 0);
}

}  // namespace
}  // namespace roofcal
