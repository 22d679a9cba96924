#include "db/table_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/db/fixtures.h"

namespace roofcal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::must;
using testing::write_file;
using testing::write_gzip;

using Rows = std::vector<std::vector<std::string>>;

struct Read {
  std::vector<std::string> columns;
  Rows rows;
  std::vector<std::int64_t> lines;
  std::optional<Error> error;
};

Read read_all(const std::filesystem::path& file) {
  Read out;
  auto table = TableFile::open(file);
  if (!table) {
    out.error = table.error();
    return out;
  }
  out.columns = table->columns();
  for (;;) {
    const auto next = table->next();
    if (!next) {
      out.error = next.error();
      return out;
    }
    if (!*next) return out;
    out.rows.emplace_back(table->cells().begin(), table->cells().end());
    out.lines.push_back(table->line());
  }
}

class TableFileTest : public ::testing::Test {
 protected:
  Read read(std::string_view text) { return read_all(write_file(folder_ / "table.csv", text)); }
  testing::TemporaryFolder folder_;
};

TEST_F(TableFileTest, Rows) {
  const Read got = read("a,b\n1,2\n3,4\n");
  EXPECT_THAT(got.columns, ElementsAre("a", "b"));
  EXPECT_THAT(got.rows, ElementsAre(ElementsAre("1", "2"), ElementsAre("3", "4")));
  EXPECT_THAT(got.lines, ElementsAre(2, 3));
  EXPECT_FALSE(got.error);
}

TEST_F(TableFileTest, LineEndsMarksSpacesAndAMissingLastLineEnd) {
  for (const std::string_view text : {"a,b\r\n1,2\r\n3,4\r\n",
                                      "\xEF\xBB\xBF"
                                      "a,b\n1,2\n3,4",
                                      " a , b\n 1 ,\t2\n3 ,4 \n", "a,b\n\n1,2\r\n\r\n3,4\n\n"}) {
    const Read got = read(text);
    EXPECT_THAT(got.columns, ElementsAre("a", "b")) << text;
    EXPECT_THAT(got.rows, ElementsAre(ElementsAre("1", "2"), ElementsAre("3", "4"))) << text;
    EXPECT_FALSE(got.error);
  }
}

TEST_F(TableFileTest, Quotes) {
  const Read got = read("\"a\",b\n\"x, \"\"y\"\"\",\"two\nlines\"\n\" kept \",\"\"\n");
  EXPECT_THAT(got.columns, ElementsAre("a", "b"));
  EXPECT_THAT(got.rows, ElementsAre(ElementsAre("x, \"y\"", "two\nlines"), ElementsAre(" kept ", "")));
  EXPECT_THAT(got.lines, ElementsAre(2, 4));
}

TEST_F(TableFileTest, AQuoteThatIsNeverClosedKeepsTheRowsBefore) {
  const Read got = read("a,b\n1,2\n3,\"4\n5,6\n");
  EXPECT_THAT(got.rows, ElementsAre(ElementsAre("1", "2")));
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code, ErrorCode::bad_data);
  EXPECT_THAT(got.error->message, HasSubstr("table.csv:3: a quote is never closed"));
}

TEST_F(TableFileTest, EmptyCellsAndShortRowsAreTheCallersToJudge) {
  const Read got = read("a,b,c\n1\n,,\n1,2,3,4\n");
  EXPECT_THAT(got.rows, ElementsAre(ElementsAre("1"), ElementsAre("", "", ""), ElementsAre("1", "2", "3", "4")));
}

TEST_F(TableFileTest, Gzip) {
  const Read got = read_all(write_gzip(folder_ / "t.csv.gz", "a,b\n1,2\n"));
  EXPECT_THAT(got.rows, ElementsAre(ElementsAre("1", "2")));
}

std::string many_rows() {
  std::string text = "a,b\n";
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 100'003) + "," + std::to_string(i) + "\n";
  return text;
}

TEST_F(TableFileTest, RowsAcrossTheBuffersEdge) {
  const Read got = read(many_rows());
  ASSERT_EQ(got.rows.size(), 100'000U);
  for (std::size_t i = 0; i < got.rows.size(); ++i) {
    ASSERT_THAT(got.rows[i], ElementsAre(std::to_string(i * 7919 % 100'003), std::to_string(i)));
  }
}

TEST_F(TableFileTest, AGzipFileCutOffKeepsTheRowsBefore) {
  const auto file = write_gzip(folder_ / "t.csv.gz", many_rows());
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  const Read got = read_all(file);
  EXPECT_GT(got.rows.size(), 10'000U);
  for (std::size_t i = 0; i < got.rows.size(); ++i) ASSERT_EQ(got.rows[i].at(1), std::to_string(i));
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code, ErrorCode::bad_data);
  // Where the last row broke off, not where the reading of a block of text began.
  EXPECT_THAT(got.error->message,
              HasSubstr("t.csv.gz:" + std::to_string(got.rows.size() + 2) + ": the gzip data is cut off"));
}

TEST_F(TableFileTest, DamagedGzipDataCannotBeTrusted) {
  const auto file = write_gzip(folder_ / "t.csv.gz", many_rows());
  std::string bytes = testing::read_file(file);
  bytes[bytes.size() - 6] ^= 0x55;  // in the checksum
  write_file(file, bytes);
  const Read got = read_all(file);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code, ErrorCode::io);
  EXPECT_THAT(got.error->message, HasSubstr("damaged gzip data"));
}

TEST_F(TableFileTest, FilesThatAreNone) {
  EXPECT_THAT(read("").error->message, HasSubstr("is empty"));
  EXPECT_THAT(read("a,b,a\n").error->message, HasSubstr("two columns are called 'a'"));
  EXPECT_THAT(read_all(folder_ / "missing.csv").error->message, HasSubstr("No such file"));
  EXPECT_THAT(read_all(folder_ / ".").error->message, HasSubstr("is a folder"));
  // Its content would be read twice, and come once.
  ASSERT_EQ(mkfifo((folder_ / "pipe.csv").c_str(), 0600), 0);
  EXPECT_THAT(read_all(folder_ / "pipe.csv").error->message, HasSubstr("is no regular file"));
}

TEST_F(TableFileTest, TheHeaderInMessagesIsOneShortLine) {
  const auto table = must(TableFile::open(write_file(folder_ / "x.csv", "\"a\nb\",\x01\xff" + std::string(1000, 'c'))));
  EXPECT_EQ(table.header_text().find('\n'), std::string::npos);
  EXPECT_LT(table.header_text().size(), 210U);
}

}  // namespace
}  // namespace roofcal
