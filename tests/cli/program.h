// Runs the built program as a user would: a process with its own environment, its streams captured.
#pragma once

#include <filesystem>
#include <string>

namespace roofcal::cli::testing {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

/// A folder that is removed with its owner. The program gets it as HOME and as working directory; it knows the GPUs of
/// the source tree and no built-in calibrations.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, std::string_view content) const;
  [[nodiscard]] std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

/// `arguments` as a shell would read them; `input` is the program's stdin. A program that a signal ends has status 128
/// + the signal.
[[nodiscard]] Outcome roofcal(const Folder& folder, const std::string& arguments, std::string_view input = "");

}  // namespace roofcal::cli::testing
