#include "db/aiconfigurator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/lower_case.h"
#include "db/cell_text.h"

namespace roofcal {
namespace {

constexpr double kSecondsPerMillisecond = 1e-3;

Error bad(std::string message) { return Error{ErrorCode::bad_data, std::move(message)}; }

const Operator* operator_of_table(std::string_view op_name) {
  for (const Operator* op : all_operators()) {
    if (std::ranges::find(op->table_names(), op_name) != op->table_names().end()) return op;
  }
  return nullptr;
}

Result<Seconds> parse_latency(std::string_view text) {
  if (text.empty()) return bad("latency is empty");
  const auto ms = parse_real(text);
  if (!ms) return bad(fmt::format("latency '{}' is not a number", text));
  const double seconds = *ms * kSecondsPerMillisecond;
  if (!(seconds > 0.0) || !std::isfinite(seconds)) return bad(fmt::format("latency '{}' is not a positive time", text));
  if (seconds > kLongestTimeSeconds) {
    return bad(fmt::format("latency '{}' ms is more than a day: is it in other units?", text));
  }
  return Seconds(seconds);
}

class Aiconfigurator final : public RowFormat {
 public:
  Aiconfigurator(const TableFile& table, const GpuCatalogue& catalogue, std::string gpu)
      : catalogue_(catalogue),
        chosen_gpu_(std::move(gpu)),
        file_(std::filesystem::absolute(table.file())),
        asked_(table.columns().size()) {
    const auto place = [&](std::string_view name) { return table.column(name); };
    latency_ = place("latency");
    op_name_ = place("op_name");
    device_ = place("device");
    framework_ = place("framework");
    version_ = place("version");
    kernel_ = place("kernel_source");
  }

  Result<void> read(const TableFile& table, Run& run, StoredSample& sample) override {
    const auto row = table.cells();
    std::ranges::fill(asked_, By::nobody);
    const Cells cells = [&](std::string_view name) -> std::optional<std::string_view> {
      const auto column = table.column(name);
      if (!column) return std::nullopt;
      asked_[*column] = std::max(asked_[*column], By::the_operator);
      return row[*column];
    };
    const auto take = [&](const std::optional<std::size_t>& column) -> std::string_view {
      if (!column) return {};
      asked_[*column] = By::us;
      return row[*column];
    };

    const auto op = operator_of(take(op_name_), cells);
    if (!op) return op.error();
    const auto time = parse_latency(take(latency_));
    if (!time) return time.error();
    auto call = (*op)->from_table(cells);
    if (!call) return call.error();
    const auto gpu = gpu_of(take(device_));
    if (!gpu) return gpu.error();

    run.source = kAiconfigurator;
    run.extra.emplace("note", "the collector repeats a call on the same buffers: L2 hot");
    sample.time = *time;
    sample.shape = call->shape;
    sample.key.op = (*op)->name();
    sample.key.gpu = **gpu;
    sample.key.kernel = take(kernel_);
    sample.key.attributes = std::move(call->attributes);
    sample.key.cache = CacheMode::hot;
    if (call->framework.empty()) {
      sample.key.framework = lower_case(take(framework_));
      sample.key.version = take(version_);
      sample.launch_mode = sample.key.kernel.ends_with("_eager") ? "stream" : "graph";
    } else {
      // The table's word for the framework is of the caller, and is kept by its name.
      sample.key.framework = call->framework;
      sample.key.version = version_of(call->framework, take(version_));
    }
    const auto said = words_of(**op, sample);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i].empty() || asked_[i] == By::us) continue;
      // Sizes that an operator adds up, and words that it translates (the dtype of a collective's elements), are kept
      // as they were: what differs in one column stays different.
      if (asked_[i] == By::the_operator && std::ranges::find(said, row[i]) != said.end()) continue;
      keep(table.columns()[i], row[i], sample);
    }
    return {};
  }

  [[nodiscard]] std::vector<std::string> warnings() const override { return warnings_; }

 private:
  // Who used a column of the current row.
  enum class By : char { nobody, the_operator, us };

  // Sizes and attributes as users write them.
  static std::vector<std::string> words_of(const Operator& op, const StoredSample& sample) {
    std::vector<std::string> words;
    words.reserve(sample.shape.size() + sample.key.attributes.size());
    for (std::size_t i = 0; i < sample.shape.size(); ++i) {
      words.push_back(print_field(op.fields()[i], sample.shape[i]));
    }
    for (const auto& [name, value] : sample.key.attributes) words.push_back(value);
    return words;
  }

  // Which operator a row is of; without an `op_name` the file's name says it ("gemm_perf.csv.gz"), or the columns do.
  Result<const Operator*> operator_of(std::string_view op_name, const Cells& cells) {
    if (last_operator_ != nullptr && (!op_name_ || op_name == last_op_name_)) return last_operator_;
    const Operator* found = op_name_ ? operator_of_table(op_name) : operator_of_file();
    if (found == nullptr && op_name_) return bad(fmt::format("operator '{}' is not known to this version", op_name));
    if (found == nullptr) {
      std::vector<std::string_view> fitting;
      for (const Operator* op : all_operators()) {
        if (!op->from_table(cells)) continue;
        fitting.push_back(op->name());
        found = op;
      }
      std::ranges::fill(asked_, By::nobody);
      if (fitting.size() != 1) {
        return Error{ErrorCode::missing_column,
                     fmt::format("op_name: no such column, and the others fit {}: add the column, or name the file "
                                 "after the operator (gemm_perf.csv)",
                                 fitting.empty() ? "no operator" : fmt::format("{}", fmt::join(fitting, ", ")))};
      }
    }
    last_operator_ = found;
    last_op_name_ = op_name;
    return found;
  }

  [[nodiscard]] const Operator* operator_of_file() const {
    std::string name = file_.filename().string();
    name.resize(std::min(name.find('.'), name.size()));
    if (name.ends_with("_perf")) name.resize(name.size() - 5);
    const Operator* op = find_operator(name);
    return op != nullptr ? op : operator_of_table(name);
  }

  // The version of a library that is not the table's framework. Public tables lie in <library>/<version>/, and the
  // column of some says another version than their folder, by which their own readers go.
  std::string version_of(std::string_view library, std::string_view column) {
    const std::filesystem::path folder = file_.parent_path();
    if (folder.parent_path().filename() != library) return std::string(column);
    std::string version = folder.filename().string();
    if (version != column && warnings_.empty()) {
      warnings_.push_back(fmt::format("the version column says {}, the folder {} {}, which counts",
                                      column.empty() ? "nothing" : column, library, version));
    }
    return version;
  }

  Result<const std::string*> gpu_of(std::string_view device) {
    if (!chosen_gpu_.empty()) return &chosen_gpu_;
    if (last_gpu_ == nullptr || device != last_device_) {
      const GpuSpec* gpu = catalogue_.spec(device);
      if (gpu == nullptr) return unknown_gpu(catalogue_, device);
      last_gpu_ = &gpu->name;
      last_device_ = device;
    }
    return last_gpu_;
  }

  // A column that the operator does not read.
  static void keep(const std::string& column, std::string_view text, StoredSample& sample) {
    const auto figure = parse_real(text);
    if (column == "power" && figure && std::isfinite(*figure)) {
      sample.power_w = *figure;
    } else if (column == "power_limit" && figure && std::isfinite(*figure)) {
      sample.power_limit_w = *figure;
    } else {
      sample.extra.emplace(column, text);
    }
  }

  const GpuCatalogue& catalogue_;
  std::string chosen_gpu_;
  std::filesystem::path file_;
  std::vector<By> asked_;  // for each column
  std::optional<std::size_t> latency_, op_name_, device_, framework_, version_, kernel_;
  std::vector<std::string> warnings_;
  const Operator* last_operator_ = nullptr;
  std::string last_op_name_;
  const std::string* last_gpu_ = nullptr;
  std::string last_device_;
};

}  // namespace

bool is_aiconfigurator(const TableFile& table) { return table.column("latency").has_value(); }

Result<std::unique_ptr<RowFormat>> open_aiconfigurator(const TableFile& table, const GpuCatalogue& catalogue,
                                                       const ImportOptions& options) {
  if (!is_aiconfigurator(table)) {
    return bad(
        fmt::format("{}: column latency is missing; the header has {}", table.file().string(), table.header_text()));
  }
  auto gpu = chosen_gpu(catalogue, options);
  if (!gpu) return gpu.error();
  if (gpu->empty() && !table.column("device")) {
    return bad(fmt::format("{}: no column names the GPU (device): say which with --gpu", table.file().string()));
  }
  return std::unique_ptr<RowFormat>(std::make_unique<Aiconfigurator>(table, catalogue, *std::move(gpu)));
}

}  // namespace roofcal
