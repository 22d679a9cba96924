// `doctor`: what was found on this machine, what is missing and how to get it.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>

#include "cli/session.h"
#include "cli/verbs.h"

namespace roofcal::cli {
namespace {

namespace fs = std::filesystem;

struct Finding {
  std::string what;
  bool found = false;
  std::string detail;  // a path, a version, or why it was not found
  std::string remedy;  // empty when there is nothing to do
};

// A library by the name that the loader knows, closed again when the owner goes.
class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  explicit operator bool() const { return handle_ != nullptr; }
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

// The few prototypes of NVML that are needed; the header does not come with the driver.
struct Nvml {
  static constexpr unsigned kSmClock = 1;   // NVML_CLOCK_SM
  static constexpr std::size_t kName = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE

  Library library{"libnvidia-ml.so.1"};
  int (*init)() = library.function<int()>("nvmlInit_v2");
  int (*shutdown)() = library.function<int()>("nvmlShutdown");
  int (*count)(unsigned*) = library.function<int(unsigned*)>("nvmlDeviceGetCount_v2");
  int (*handle)(unsigned, void**) = library.function<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
  int (*name)(void*, char*, unsigned) = library.function<int(void*, char*, unsigned)>("nvmlDeviceGetName");
  int (*max_clock)(void*, unsigned,
                   unsigned*) = library.function<int(void*, unsigned, unsigned*)>("nvmlDeviceGetMaxClockInfo");
  int (*clock)(void*, unsigned,
               unsigned*) = library.function<int(void*, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");

  [[nodiscard]] bool usable() const {
    return init != nullptr && shutdown != nullptr && count != nullptr && handle != nullptr && name != nullptr;
  }
};

constexpr const char* kDriverRemedy = "install NVIDIA's driver; needed only by `roofcal measure`";

std::vector<Finding> gpus(const GpuCatalogue& catalogue) {
  const Nvml nvml;
  if (!nvml.usable()) {
    return {{"GPU driver", false, "libnvidia-ml.so.1 cannot be loaded", kDriverRemedy}};
  }
  if (const int status = nvml.init(); status != 0) {
    return {{"GPU driver", false, fmt::format("NVML does not start (status {})", status), kDriverRemedy}};
  }
  std::vector<Finding> out{{"GPU driver", true, "NVML", ""}};
  unsigned count = 0;
  nvml.count(&count);
  if (count == 0) out.push_back({"GPU", false, "the driver sees none", "needed only by `roofcal measure`"});
  for (unsigned i = 0; i < count; ++i) {
    void* device = nullptr;
    std::array<char, Nvml::kName> name{};
    if (nvml.handle(i, &device) != 0 || nvml.name(device, name.data(), static_cast<unsigned>(name.size())) != 0)
      continue;
    const GpuSpec* spec = catalogue.spec(name.data());
    out.push_back({fmt::format("GPU {}", i), true,
                   fmt::format("{}{}", name.data(), spec == nullptr ? "" : ", here " + spec->name),
                   spec == nullptr ? "not in the catalogue: `roofcal gpu add FILE` adds it" : ""});
    unsigned now = 0;
    unsigned most = 0;
    if (nvml.clock != nullptr && nvml.max_clock != nullptr && nvml.clock(device, Nvml::kSmClock, &now) == 0 &&
        nvml.max_clock(device, Nvml::kSmClock, &most) == 0) {
      out.push_back(
          {fmt::format("clock of GPU {}", i), true, fmt::format("SM {} MHz now, {} MHz at most", now, most), ""});
    }
  }
  nvml.shutdown();
  return out;
}

std::optional<std::string> in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, colon)) / program;
    std::error_code ignored;  // a folder that cannot be looked at holds nothing for us
    if (fs::is_regular_file(candidate, ignored)) return candidate.string();
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  const fs::path usual = fs::path("/usr/local/cuda/bin") / program;
  std::error_code ignored;
  return fs::is_regular_file(usual, ignored) ? std::optional(usual.string()) : std::nullopt;
}

Finding toolkit() {
  if (const auto nvcc = in_path("nvcc")) return {"CUDA toolkit", true, *nvcc, ""};
  return {"CUDA toolkit", false, "no nvcc in PATH or /usr/local/cuda/bin",
          "developer.nvidia.com/cuda-downloads; needed only by `roofcal measure`"};
}

// NCCL and cuDNN number their versions alike enough: major * 10000 + minor * 100 + patch since 2.9 and 9.0.
Finding versioned(const std::string& what, const char* library_name, const char* header, std::optional<int> version,
                  const char* remedy) {
  if (version) {
    return {what, true,
            fmt::format("{}.{}.{}, {}", *version / 10000, *version / 100 % 100, *version % 100, library_name), ""};
  }
  for (const char* folder : {"/usr/include", "/usr/local/cuda/include", "/usr/include/x86_64-linux-gnu"}) {
    std::error_code ignored;
    if (fs::exists(fs::path(folder) / header, ignored)) {
      return {what, true, fmt::format("{}/{}; {} cannot be loaded", folder, header, library_name), ""};
    }
  }
  return {what, false, fmt::format("{} cannot be loaded", library_name), remedy};
}

Finding nccl() {
  const Library library("libnccl.so.2");
  std::optional<int> version;
  int number = 0;
  if (auto* get = library.function<int(int*)>("ncclGetVersion"); get != nullptr && get(&number) == 0) version = number;
  return versioned("NCCL", "libnccl.so.2", "nccl.h", version,
                   "apt install libnccl-dev; needed only to measure collectives");
}

Finding cudnn() {
  const Library library("libcudnn.so.9");
  std::optional<int> version;
  if (auto* get = library.function<std::size_t()>("cudnnGetVersion")) version = static_cast<int>(get());
  return versioned("cuDNN", "libcudnn.so.9", "cudnn.h", version,
                   "apt install libcudnn9-dev-cuda-13; needed only to measure attention");
}

std::vector<Finding> data_of(Session& session) {
  std::vector<Finding> out;
  const fs::path path = session.store_path();
  const auto store = session.store();
  if (!store) {
    out.push_back({"store", false, store.error().message, "name another with --db"});
  } else if (*store == nullptr) {
    out.push_back({"store", false, path.string() + " is not there yet", "`roofcal import FILE` makes it"});
  } else if (const auto info = (*store)->info(); !info) {
    out.push_back({"store", false, info.error().message, "`roofcal db check` says more"});
  } else {
    out.push_back({"store", true,
                   fmt::format("{}, schema {}, {} samples, {} calibrations", path.string(), info->schema_version,
                               info->samples, info->calibrations),
                   ""});
  }
  const auto catalogue = session.catalogue();
  out.push_back(catalogue
                    ? Finding{"GPU catalogue", true,
                              fmt::format("{} GPUs in {}", (*catalogue)->all().size(), catalogue_folder().string()), ""}
                    : Finding{"GPU catalogue", false, catalogue.error().message, "reinstall, or set ROOFCAL_SHARE"});
  return out;
}

Finding builtins_of(const GpuCatalogue& catalogue) {
  const CalibrationLibrary library(builtin_folder(), catalogue, nullptr);
  const auto known = library.builtins();
  if (!known) return {"built-in calibrations", false, known.error().message, "reinstall, or set ROOFCAL_SHARE"};
  if (known->empty()) {
    return {"built-in calibrations", false, fmt::format("none in {}", builtin_folder().string()),
            "reinstall, or set ROOFCAL_SHARE"};
  }
  return {"built-in calibrations", true, fmt::format("{} files in {}", known->size(), builtin_folder().string()), ""};
}

Result<int> doctor(Session& session) {
  // A store that cannot be read is a finding, not the end: GPUs are then looked up among the built-in ones.
  const auto catalogue = GpuCatalogue::load(catalogue_folder());
  const GpuCatalogue none;
  const GpuCatalogue& known = catalogue ? *catalogue : none;

  std::vector<Finding> findings{{"roofcal", true, ROOFCAL_VERSION, ""}};
  const auto add = [&](std::vector<Finding> more) { findings.insert(findings.end(), more.begin(), more.end()); };
  add(data_of(session));
  add({builtins_of(known)});
  add(gpus(known));
  add({toolkit(), nccl(), cudnn()});

  report::Report out;
  out.columns = {{"what", "what"}, {"found", "found"}, {"detail", "detail"}, {"remedy", "how to get it"}};
  for (const Finding& finding : findings) {
    out.records.push_back({finding.what, finding.found, finding.detail,
                           finding.remedy.empty() ? report::Value() : report::Value(finding.remedy)});
  }
  session.print(out);
  return 0;
}

}  // namespace

void add_doctor(const Registry& registry) {
  CLI::App& verb = add_verb(registry, "doctor", "what was found, what is missing and how to get it",
                            "  roofcal doctor\n  roofcal doctor --format json");
  Action& action = registry.action;
  verb.callback([&action] { action = [](Session& session) { return doctor(session); }; });
}

}  // namespace roofcal::cli
