#include "tests/cli/program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace roofcal::cli::testing {

namespace fs = std::filesystem;

Folder::Folder() {
  static std::atomic<int> count{0};
  path_ = fs::temp_directory_path() / ("roofcal_cli_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  fs::create_directories(path_ / "share");
  // Catalogue and models as they are, and no built-in calibrations: what is answered comes from the test.
  const fs::path source = ROOFCAL_SOURCE_DIR;
  fs::create_directory_symlink(source / "db" / "catalogue", path_ / "share" / "catalogue");
  fs::create_directory_symlink(source / "predictor" / "models" / "builtin", path_ / "share" / "models");
}

Folder::~Folder() {
  std::error_code ignored;  // left behind in the folder for temporary files at worst
  fs::remove_all(path_, ignored);
}

void Folder::write(const std::string& name, std::string_view content) const {
  std::ofstream(path_ / name, std::ios::binary) << content;
}

std::string Folder::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path_ / name, std::ios::binary).rdbuf();
  return text.str();
}

Outcome roofcal(const Folder& folder, const std::string& arguments, std::string_view input) {
  const Folder streams;
  streams.write("in", input);
  const std::string home = folder.path().string();
  const std::string at = streams.path().string();
  const std::string command = "cd '" + home + "' && exec env -u ROOFCAL_DB -u XDG_DATA_HOME ROOFCAL_SHARE='" + home +
                              "/share' HOME='" + home + "' '" ROOFCAL_PROGRAM "' " + arguments + " <'" + at +
                              "/in' >'" + at + "/out' 2>'" + at + "/err'";
  const int status = std::system(command.c_str());
  Outcome outcome;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = streams.read("out");
  outcome.err = streams.read("err");
  return outcome;
}

}  // namespace roofcal::cli::testing
