#include "db/roofcal_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/cell_text.h"
#include "db/json_text.h"
#include "db/utc_text.h"

namespace roofcal {
namespace {

Error bad(std::string message) { return Error{ErrorCode::bad_data, std::move(message)}; }

// Reads named cells of one row, keeping the first complaint.
class Row {
 public:
  explicit Row(const TableFile& table) : table_(table) {}

  [[nodiscard]] std::optional<std::string_view> cell(std::string_view name) const {
    const auto column = table_.column(name);
    return column ? std::optional(table_.cells()[*column]) : std::nullopt;
  }
  [[nodiscard]] std::string_view text(std::string_view name) const { return cell(name).value_or(""); }

  void read(std::string_view name, std::string& out) const { out = text(name); }
  void read(std::string_view name, std::optional<double>& out) {
    if (text(name).empty()) return;
    out = parse_real(text(name));
    if (!out || !std::isfinite(*out)) complain(fmt::format("{} '{}' is not a finite number", name, text(name)));
  }
  void read(std::string_view name, std::optional<std::int64_t>& out) {
    if (text(name).empty()) return;
    out = parse_integer(text(name));
    if (!out) complain(fmt::format("{} '{}' is not a whole number", name, text(name)));
  }
  void read(std::string_view name, std::vector<double>& out) {
    std::string_view rest = text(name);
    while (!rest.empty()) {
      const auto end = std::min(rest.find(';'), rest.size());
      const auto value = parse_real(rest.substr(0, end));
      if (!value || !std::isfinite(*value)) {
        return complain(fmt::format("{} '{}' is not a finite number", name, rest.substr(0, end)));
      }
      out.push_back(*value);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  void read_time(std::string_view name, std::string& out) {
    read(name, out);
    if (!out.empty() && !is_utc_text(out)) {
      complain(fmt::format("{} '{}' is no time in UTC like 2026-12-01T14:00:00Z", name, out));
    }
  }
  template <class Values>
  void read_object(std::string_view name, Values& out) {
    if (text(name).empty()) return;
    if (const auto parsed = read_json(text(name), out); !parsed) {
      complain(fmt::format("{}: {}", name, parsed.error().message));
    }
  }

  void complain(std::string message) {
    if (!complaint_) complaint_ = std::move(message);
  }
  [[nodiscard]] Result<void> outcome() const { return complaint_ ? Result<void>(bad(*complaint_)) : Result<void>(); }

 private:
  const TableFile& table_;
  std::optional<std::string> complaint_;
};

class RoofcalTable final : public RowFormat {
 public:
  RoofcalTable(const GpuCatalogue& catalogue, std::string gpu) : catalogue_(catalogue), chosen_gpu_(std::move(gpu)) {}

  Result<void> read(const TableFile& table, Run& run, StoredSample& sample) override {
    Row row(table);
    if (!row.text("kind").empty()) sample.kind = row.text("kind");
    if (const auto read = read_key(row, sample); !read) return read;
    std::optional<double> time;
    row.read("time_s", time);
    if (!time || !(*time > 0.0)) return bad(fmt::format("time_s '{}' is not a positive time", row.text("time_s")));
    if (*time > kLongestTimeSeconds) {
      return bad(fmt::format("time_s '{}' is more than a day: is it in other units?", row.text("time_s")));
    }
    sample.time = Seconds(*time);
    row.read("count", sample.count);
    row.read("p10_s", sample.p10_s);
    row.read("p90_s", sample.p90_s);
    row.read("relative_error", sample.relative_error);
    row.read("raw_s", sample.raw_s);
    row.read("sm_clock_hz", sample.sm_clock_hz);
    row.read("power_w", sample.power_w);
    row.read("power_limit_w", sample.power_limit_w);
    row.read("launch_mode", sample.launch_mode);
    row.read("layout", sample.layout);
    row.read("epilogue", sample.epilogue);
    row.read("batch_count", sample.batch_count);
    row.read("data_fill", sample.data_fill);
    row.read("algorithm", sample.algorithm);
    row.read("flags", sample.flags);
    row.read_object("metrics", sample.metrics);
    row.read("nodes", sample.nodes);
    row.read("device", sample.device);
    row.read_time("measured_utc", sample.measured_utc);
    row.read_object("extra", sample.extra);
    read_run(row, run);
    return row.outcome();
  }

 private:
  Result<void> read_key(Row& row, StoredSample& sample) {
    ClassKey& key = sample.key;
    row.read("op", key.op);
    row.read("framework", key.framework);
    row.read("version", key.version);
    row.read("kernel", key.kernel);
    const std::string_view cache = row.text("cache");
    const auto mode = cache.empty() ? std::optional(CacheMode::hot) : parse_cache_mode(cache);
    if (!mode) return bad(fmt::format("cache '{}' is neither hot nor cold", cache));
    key.cache = *mode;
    if (chosen_gpu_.empty()) {
      const GpuSpec* gpu = catalogue_.spec(row.text("gpu"));
      if (gpu == nullptr) return unknown_gpu(catalogue_, row.text("gpu"));
      key.gpu = gpu->name;
    } else {
      key.gpu = chosen_gpu_;
    }
    if (sample.kind != kOperatorSample) {
      if (key.op.empty()) return bad("op is empty");
      row.read_object("sizes", sample.sizes);
      row.read_object("attributes", key.attributes);
      return row.outcome();
    }
    const Operator* op = find_operator(key.op);
    if (op == nullptr) return bad(fmt::format("operator '{}' is not known to this version", key.op));
    auto call = parse_call(*op, [&](std::string_view name) { return row.cell(table_column(name)); });
    if (!call) return bad(call.error().message);
    sample.shape = call->shape;
    key.attributes = std::move(call->attributes);
    return {};
  }

  // A table without a run's columns is a run of its own.
  static void read_run(Row& row, Run& run) {
    run.source = row.text("source").empty() ? kRoofcal : row.text("source");
    if (row.cell("origin")) row.read("origin", run.origin);
    if (row.cell("content_hash")) row.read("content_hash", run.content_hash);
    row.read("run_gpu", run.gpu);
    row.read_time("started_utc", run.started_utc);
    row.read_time("ended_utc", run.ended_utc);
    row.read_object("run_extra", run.extra);
  }

  const GpuCatalogue& catalogue_;
  std::string chosen_gpu_;
};

}  // namespace

std::string table_column(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

bool is_roofcal_table(const TableFile& table) { return table.column("time_s").has_value(); }

Result<std::unique_ptr<RowFormat>> open_roofcal_table(const TableFile& table, const GpuCatalogue& catalogue,
                                                      const ImportOptions& options) {
  auto gpu = chosen_gpu(catalogue, options);
  if (!gpu) return gpu.error();
  std::vector<std::string_view> missing;
  for (const std::string_view needed : {"op", "time_s"}) {
    if (!table.column(needed)) missing.push_back(needed);
  }
  if (!missing.empty()) {
    return bad(fmt::format("{}: column {} is missing; the header has {}", table.file().string(),
                           fmt::join(missing, ", "), table.header_text()));
  }
  if (gpu->empty() && !table.column("gpu")) {
    return bad(fmt::format("{}: no column names the GPU (gpu): say which with --gpu", table.file().string()));
  }
  return std::unique_ptr<RowFormat>(std::make_unique<RoofcalTable>(catalogue, *std::move(gpu)));
}

}  // namespace roofcal
