#include "cli/row_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

namespace roofcal::cli {
namespace {

class RowReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = std::filesystem::temp_directory_path() /
            ("roofcal_rows_" + std::to_string(::getpid()) + "_" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
  }
  void TearDown() override { std::filesystem::remove(file_); }

  std::vector<std::string> lines_of(std::string_view content) {
    std::ofstream(file_, std::ios::binary) << content;
    return read();
  }
  std::vector<std::string> read() {
    auto reader = RowReader::open(file_.string());
    EXPECT_TRUE(reader.ok());
    std::vector<std::string> out;
    std::vector<Line> lines;
    while (reader->next(lines).ok() && !lines.empty()) {
      for (const Line& line : lines) {
        out.emplace_back(line.text);
        numbers_.push_back(line.number);
      }
    }
    return out;
  }

  std::filesystem::path file_;
  std::vector<std::int64_t> numbers_;
};

using Texts = std::vector<std::string>;

TEST_F(RowReaderTest, UnixAndWindowsLines) { EXPECT_EQ(lines_of("a,b\n1,2\r\n3,4"), (Texts{"a,b", "1,2", "3,4"})); }

TEST_F(RowReaderTest, ByteOrderMarkIsDropped) {
  EXPECT_EQ(lines_of("\xEF\xBB\xBF"
                     "a,b\n1,2\n"),
            (Texts{"a,b", "1,2"}));
}

TEST_F(RowReaderTest, BlankLinesAreLeftOutButCounted) {
  EXPECT_EQ(lines_of("a\n\n  \n1\n"), (Texts{"a", "1"}));
  EXPECT_EQ(numbers_, (std::vector<std::int64_t>{1, 4}));
}

TEST_F(RowReaderTest, EmptyFileHasNoLines) { EXPECT_TRUE(lines_of("").empty()); }

TEST_F(RowReaderTest, LinesAcrossBlocksStayWhole) {
  std::string content;
  for (int i = 0; i < 50'000; ++i) content += "row," + std::to_string(i) + "\n";
  const auto lines = lines_of(content);
  ASSERT_EQ(lines.size(), 50'000U);
  EXPECT_EQ(lines[0], "row,0");
  EXPECT_EQ(lines[49'999], "row,49999");
  EXPECT_EQ(numbers_.back(), 50'000);
}

TEST_F(RowReaderTest, GzipIsToldByContent) {
  gzFile packed = gzopen(file_.c_str(), "wb");
  gzputs(packed, "a,b\n1,2\n");
  gzclose(packed);
  EXPECT_EQ(read(), (Texts{"a,b", "1,2"}));
}

TEST_F(RowReaderTest, AnEndlessLineIsRefused) {
  std::ofstream(file_, std::ios::binary) << std::string(3 * 1024 * 1024, 'x');
  auto reader = RowReader::open(file_.string());
  ASSERT_TRUE(reader.ok());
  std::vector<Line> lines;
  const auto read = reader->next(lines);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::bad_data);
}

TEST_F(RowReaderTest, AMissingFileIsNamed) {
  const auto reader = RowReader::open("/nowhere/calls.csv");
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.error().message.find("/nowhere/calls.csv"), std::string::npos);
}

Texts values_of(std::string_view line) {
  std::vector<Cell> cells;
  std::vector<std::unique_ptr<std::string>> scratch;
  EXPECT_TRUE(split_cells(line, cells, scratch).ok());
  Texts out;
  for (const Cell& cell : cells) out.emplace_back(cell.value);
  return out;
}

TEST(SplitCells, BlanksAndQuotesComeOff) {
  EXPECT_EQ(values_of("a, b ,c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(values_of("a,,"), (Texts{"a", "", ""}));
  EXPECT_EQ(values_of("\"a,b\",c"), (Texts{"a,b", "c"}));
  EXPECT_EQ(values_of("\"say \"\"hi\"\"\",2"), (Texts{"say \"hi\"", "2"}));
  EXPECT_EQ(values_of("\"\",2"), (Texts{"", "2"}));
}

TEST(SplitCells, RawKeepsTheText) {
  std::vector<Cell> cells;
  std::vector<std::unique_ptr<std::string>> scratch;
  ASSERT_TRUE(split_cells("\"a,b\", c", cells, scratch).ok());
  EXPECT_EQ(cells[0].raw, "\"a,b\"");
  EXPECT_EQ(cells[1].raw, " c");
}

TEST(SplitCells, AnOpenQuoteIsAnError) {
  std::vector<Cell> cells;
  std::vector<std::unique_ptr<std::string>> scratch;
  EXPECT_FALSE(split_cells("a,\"b", cells, scratch).ok());
}

}  // namespace
}  // namespace roofcal::cli
