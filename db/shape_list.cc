#include "db/shape_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "db/cell_text.h"
#include "db/roofcal_table.h"
#include "db/table_file.h"

namespace roofcal {
namespace {

Error bad(std::string message) { return Error{ErrorCode::bad_data, std::move(message)}; }

// What `plan --output` writes beside the calls.
constexpr std::array<std::string_view, 2> kOutcomes{"time_s", "cost_s"};

std::vector<std::string> passed_over(const TableFile& table) {
  std::set<std::string, std::less<>> read{"op", "gpu", "cache", "weight"};
  read.insert(kOutcomes.begin(), kOutcomes.end());
  for (const Operator* op : all_operators()) {
    for (const Field& field : op->fields()) read.insert(table_column(field.name));
    for (const AttributeField& attribute : op->attributes()) read.insert(table_column(attribute.name));
  }
  std::vector<std::string> out;
  for (const std::string& column : table.columns()) {
    if (!read.contains(column)) out.push_back(column);
  }
  return out;
}

class Row {
 public:
  explicit Row(const TableFile& table) : table_(table) {}

  [[nodiscard]] std::string_view text(std::string_view column) const {
    const auto place = table_.column(column);
    return place ? table_.cells()[*place] : std::string_view();
  }

  [[nodiscard]] Result<ListedShape> read() const {
    if (table_.cells().size() != table_.columns().size()) {
      return bad(fmt::format("{} cells where the header names {}", table_.cells().size(), table_.columns().size()));
    }
    ListedShape listed;
    listed.line = table_.line();
    listed.op = find_operator(text("op"));
    if (listed.op == nullptr) {
      std::vector<std::string_view> names;
      for (const Operator* op : all_operators()) names.push_back(op->name());
      return bad(fmt::format("operator '{}' is not known; there is {}", text("op"), fmt::join(names, ", ")));
    }
    auto call = parse_call(
        *listed.op, [&](std::string_view name) -> std::optional<std::string_view> { return text(table_column(name)); });
    if (!call) return bad(call.error().message);
    listed.attributes = std::move(call->attributes);
    listed.shape = call->shape;
    if (!text("cache").empty()) {
      const auto cache = parse_cache_mode(text("cache"));
      if (!cache) return bad(fmt::format("cache '{}' is neither hot nor cold", text("cache")));
      listed.cache = *cache;
    }
    if (!text("weight").empty()) {
      const auto weight = parse_real(text("weight"));
      if (!weight || !(*weight > 0.0) || !std::isfinite(*weight)) {
        return bad(fmt::format("weight '{}' is not a number above 0", text("weight")));
      }
      listed.weight = *weight;
    }
    return listed;
  }

 private:
  const TableFile& table_;
};

}  // namespace

Result<ShapeList> read_shape_list(const std::filesystem::path& file) {
  auto table = TableFile::open(file);
  if (!table) return table.error();
  if (!table->column("op")) {
    return bad(fmt::format("{}:1: column op is missing; the header has {}", file.string(), table->header_text()));
  }
  ShapeList list;
  list.passed_over = passed_over(*table);
  while (true) {
    const auto more = table->next();
    if (!more) return more.error();
    if (!*more) break;
    const Row row(*table);
    auto listed = row.read();
    if (!listed) return bad(fmt::format("{}:{}: {}", file.string(), table->line(), listed.error().message));
    const std::string_view gpu = row.text("gpu");
    if (!list.shapes.empty() && gpu != list.gpu) {
      return bad(fmt::format("{}:{}: gpu '{}' where the rows before have '{}': a list is for one GPU", file.string(),
                             table->line(), gpu, list.gpu));
    }
    list.gpu = gpu;
    list.shapes.push_back(*std::move(listed));
  }
  if (list.shapes.empty()) return bad(fmt::format("{} lists no shapes", file.string()));
  return list;
}

}  // namespace roofcal
