// What the program prints, word for word. A file of tests/cli/golden is a list of runs:
//   $ arguments
//   status N
//   what it printed on stdout
//   --- stderr
//   what it printed on stderr
// The folder it ran in prints as $HOME. ROOFCAL_UPDATE_GOLDEN=1 writes what the program prints now into the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/program.h"

namespace roofcal::cli::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> golden_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(ROOFCAL_GOLDEN)) names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::string with_home(std::string text, const Folder& folder) {
  const std::string home = folder.path().string();
  for (std::size_t at = text.find(home); at != std::string::npos; at = text.find(home, at)) {
    text.replace(at, home.size(), "$HOME");
  }
  return text;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, PrintsWhatItPrinted) {
  const fs::path file = fs::path(ROOFCAL_GOLDEN) / (GetParam() + ".txt");
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const std::string expected = text.str();

  const Folder folder;
  folder.write("calls.csv", "op,m,n,k,note\ngemm,0,1,1,zero\ngemm,16,x,1,\"a, b\"\ngemm,1\nconv,1,1,1,\n");
  std::string actual;
  std::istringstream lines(expected);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("$ ")) continue;
    const Outcome outcome = roofcal(folder, line.substr(2));
    actual += line + "\nstatus " + std::to_string(outcome.status) + "\n" + with_home(outcome.out, folder) +
              "--- stderr\n" + with_home(outcome.err, folder) + "\n";
  }
  if (std::getenv("ROOFCAL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file) << actual;
    GTEST_SKIP() << "updated " << file;
  }
  EXPECT_EQ(actual, expected);
}

INSTANTIATE_TEST_SUITE_P(Cli, Golden, ::testing::ValuesIn(golden_files()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace roofcal::cli::testing
