#include "predictor/models/library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "core/lower_case.h"

namespace roofcal::models {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kSuggestions = 3;
constexpr std::size_t kAlike = 5;  // letters in a row that two close names share

Result<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return Error{ErrorCode::io, fmt::format("cannot read {}", path.string())};
  return text.str();
}

struct Release {
  std::string name;
  fs::path file;
};

// Calls `visit(file, json)` for each built-in file, in the order of names, until it returns true.
template <class Visit>
Result<void> visit_files(const fs::path& folder, Visit visit) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end; it.increment(failure)) {
    if (it->path().extension() == ".json") files.push_back(it->path());
  }
  if (failure) {
    return Error{ErrorCode::io, fmt::format("cannot read {}: {}", folder.string(), failure.message())};
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const auto text = read_file(file);
    if (!text) return text.error();
    const json model = json::parse(*text, nullptr, false);
    if (!model.is_object() || !model.contains("config") || !model.contains("releases") ||
        !model["releases"].is_object()) {
      return Error{ErrorCode::bad_data,
                   fmt::format("{}: no built-in model: it lacks config or releases", file.string())};
    }
    if (visit(file, model)) break;
  }
  return {};
}

// How alike two names are: the length of the longest run of letters and digits that they share.
std::size_t likeness(const std::string& a, const std::string& b) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t run = 0;
      while (i + run < a.size() && j + run < b.size() && a[i + run] == b[j + run]) ++run;
      best = std::max(best, run);
    }
  }
  return best;
}

// The model's name where a file is all there is: the folder's, or the file's without its endings.
std::string name_of(const fs::path& config) {
  const std::string file = config.filename().string();
  if (file == "config.json") return fs::weakly_canonical(config).parent_path().filename().string();
  std::string name =
      file.substr(0, file.find(".config.json") == std::string::npos ? file.rfind('.') : file.find(".config.json"));
  if (const auto dashes = name.find("--"); dashes != std::string::npos) name.replace(dashes, 2, "/");
  return name;
}

Result<ModelDescription> from_file(const fs::path& path, ReadOptions options) {
  std::error_code failure;
  const fs::path config = fs::is_directory(path, failure) ? path / "config.json" : path;
  if (!fs::exists(config, failure)) {
    return Error{ErrorCode::io,
                 fmt::format("{} is not there: a model's folder holds its config.json", config.string())};
  }
  const auto text = read_file(config);
  if (!text) return text.error();
  const fs::path beside = config.parent_path() / "hf_quant_config.json";
  if (fs::exists(beside, failure)) {
    auto quantization = read_file(beside);
    if (!quantization) return quantization.error();
    options.quantization = *std::move(quantization);
  }
  return read_config(*text, name_of(config), config.string(), options);
}

}  // namespace

Result<std::vector<std::string>> ModelLibrary::names() const {
  std::vector<std::string> out;
  const auto visited = visit_files(folder_, [&out](const fs::path& /*file*/, const json& model) {
    for (const auto& [name, patch] : model["releases"].items()) out.push_back(name);
    return false;
  });
  if (!visited) return visited.error();
  std::ranges::sort(out);
  return out;
}

Result<ModelDescription> ModelLibrary::describe(const std::string& what, const ReadOptions& options) const {
  std::error_code failure;
  if (fs::exists(what, failure)) return from_file(what, options);

  const std::string wanted = lower_case(what);
  std::optional<Result<ModelDescription>> found;
  std::vector<std::string> all;
  const auto visited = visit_files(folder_, [&](const fs::path& file, const json& model) {
    for (const auto& [name, patch] : model["releases"].items()) {
      all.push_back(name);
      if (lower_case(name) != wanted) continue;
      json config = model["config"];
      config.merge_patch(patch);
      found.emplace(read_config(config.dump(), name, file.string(), options));
      return true;
    }
    return false;
  });
  if (!visited) return visited.error();
  if (found) return *std::move(found);
  std::erase_if(all, [&](const std::string& name) { return likeness(lower_case(name), wanted) < kAlike; });
  std::ranges::stable_sort(all, std::greater{},
                           [&](const std::string& name) { return likeness(lower_case(name), wanted); });
  all.resize(std::min(all.size(), kSuggestions));
  return Error{ErrorCode::usage, fmt::format("'{}' is neither a file or folder nor a built-in model{}", what,
                                             all.empty() ? " such as Qwen/Qwen3-32B"
                                                         : fmt::format("; did you mean {}?", fmt::join(all, " or ")))};
}

}  // namespace roofcal::models
