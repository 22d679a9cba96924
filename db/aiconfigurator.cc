#include "db/aiconfigurator.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <unordered_set>

namespace roofcal {
namespace {

constexpr double kSecondsPerMillisecond = 1e-3;
constexpr std::size_t kReasonsKept = 20;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

const Operator* operator_of_table(std::string_view op_name) {
  for (const Operator* op : all_operators()) {
    if (std::ranges::find(op->table_names(), op_name) != op->table_names().end()) return op;
  }
  return nullptr;
}

Result<Seconds> parse_latency(std::string_view text) {
  double ms = 0.0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (text.empty()) return Error{ErrorCode::bad_data, "latency is empty"};
  if (failure != std::errc{} || stop != text.data() + text.size()) {
    return Error{ErrorCode::bad_data, fmt::format("latency '{}' is not a number", text)};
  }
  if (!(ms > 0.0) || !std::isfinite(ms)) {
    return Error{ErrorCode::bad_data, fmt::format("latency '{}' is not a positive time", text)};
  }
  return Seconds(ms * kSecondsPerMillisecond);
}

}  // namespace

bool is_aiconfigurator(const TableFile& table) {
  return table.column("latency").has_value() && table.column("op_name").has_value();
}

Result<void> read_aiconfigurator(TableFile& table, const GpuCatalogue& catalogue, const ImportOptions& options,
                                 FileReport& report,
                                 const std::function<Result<void>(std::int64_t, const StoredSample&)>& visit) {
  std::vector<std::string_view> row;
  const Cells cells = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto column = table.column(name);
    if (!column || *column >= row.size()) return std::nullopt;
    return row[*column];
  };
  const auto text = [&](std::string_view name) { return cells(name).value_or(""); };

  const auto read = [&]() -> Result<StoredSample> {
    if (row.size() != table.columns().size()) {
      return Error{ErrorCode::bad_data, fmt::format("{} cells where the header has {}", row.size(), table.columns().size())};
    }
    StoredSample sample;
    const Operator* op = operator_of_table(text("op_name"));
    if (op == nullptr) return Error{ErrorCode::bad_data, fmt::format("operator '{}' is not known", text("op_name"))};
    const auto time = parse_latency(text("latency"));
    if (!time) return time.error();
    const auto call = op->from_table(cells);
    if (!call) return call.error();
    const std::string_view device = options.gpu.empty() ? text("device") : std::string_view(options.gpu);
    const GpuSpec* gpu = catalogue.spec(device);
    if (gpu == nullptr) {
      return Error{ErrorCode::bad_data, device.empty() ? "no device column: say which GPU with --gpu"
                                                       : fmt::format("device '{}' is not in the catalogue: add it with "
                                                                     "`roofcal gpu add`, or say which with --gpu",
                                                                     device)};
    }
    sample.time = *time;
    sample.shape = call->shape;
    sample.key.op = op->name();
    sample.key.gpu = gpu->name;
    sample.key.framework = lower(text("framework"));
    sample.key.version = text("version");
    sample.key.kernel = text("kernel_source");
    sample.key.attributes = call->attributes;
    sample.launch_mode = "graph";
    return sample;
  };

  std::unordered_set<std::string> seen;  // whole rows: rows identical in every column count once
  for (;;) {
    const auto next = table.next();
    if (!next) return next.error();
    if (!next->has_value()) return {};
    row = **next;
    ++report.rows;
    std::string whole;
    for (const std::string_view cell : row) {
      whole.append(cell).push_back('\x1f');
    }
    if (!seen.insert(std::move(whole)).second) {
      ++report.already_there;
      continue;
    }
    const auto sample = read();
    if (sample) {
      if (const auto visited = visit(table.line(), *sample); !visited) return visited.error();
      continue;
    }
    if (options.strict) {
      return Error{ErrorCode::bad_data, fmt::format("{}:{}: {}", report.file, table.line(), sample.error().message)};
    }
    ++report.rejected;
    if (report.reasons.size() < kReasonsKept) report.reasons.push_back({table.line(), sample.error().message});
  }
}

}  // namespace roofcal
