#include "report/json.h"

#include <cmath>

namespace roofcal::report {
namespace {

using nlohmann::ordered_json;

struct Json {
  ordered_json operator()(std::monostate) const { return nullptr; }
  ordered_json operator()(bool value) const { return value; }
  ordered_json operator()(std::int64_t value) const { return value; }
  ordered_json operator()(double value) const {
    return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
  }
  ordered_json operator()(const std::string& value) const { return value; }
  ordered_json operator()(const std::vector<std::string>& value) const { return value; }
  ordered_json operator()(const std::shared_ptr<const Object>& value) const {
    return to_json(value->columns, value->values);
  }
  ordered_json operator()(const std::shared_ptr<const Report>& value) const { return to_json(*value); }
};

}  // namespace

ordered_json to_json(const Value& value) { return std::visit(Json{}, value); }

ordered_json to_json(const std::vector<Column>& columns, const Record& record) {
  ordered_json out = ordered_json::object();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].audience != Audience::people) out[columns[i].key] = to_json(record[i]);
  }
  return out;
}

ordered_json to_json(const Report& report) {
  if (report.single && report.records.size() == 1) return to_json(report.columns, report.records.front());
  ordered_json list = ordered_json::array();
  for (const Record& record : report.records) list.push_back(to_json(report.columns, record));
  if (report.list_key.empty()) return list;
  ordered_json out = ordered_json::object();
  out[report.list_key] = std::move(list);
  out.update(to_json(report.envelope.columns, report.envelope.values));
  return out;
}

std::string dumped(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace roofcal::report
