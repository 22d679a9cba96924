// What a verb has to say, once: columns with their units and records of values. Every output format prints this.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace roofcal::report {

/// The SI unit of a column's numbers. Programs get SI with the unit in the key (`time_s`), people a scaled one (us).
enum class Unit { none, seconds, bytes, bytes_per_second, flops_per_second, hertz, watts, fraction };

/// Who gets to see a column: people read table and md, programs json, jsonl and csv.
enum class Audience { all, people, programs };

struct Column {
  std::string key;    ///< in json and csv: "time_s"
  std::string title;  ///< in tables: "time"
  Unit unit = Unit::none;
  Audience audience = Audience::all;
};

struct Object;
struct Report;

/// A cell. `monostate` is unknown: null in json, empty in csv, "-" in tables; so are doubles that are not finite. Lists
/// of records appear in json, and below a single record in tables; elsewhere they are left out.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>,
                           std::shared_ptr<const Object>, std::shared_ptr<const Report>>;

/// As many values as there are columns, in their order.
using Record = std::vector<Value>;

/// Named values that belong together, e.g. counts by provenance.
struct Object {
  std::vector<Column> columns;
  Record values;
};

struct Report {
  std::vector<Column> columns;
  std::vector<Record> records;
  /// One record answers one question: json prints an object, tables a card. Otherwise an array, a grid.
  bool single = false;
  /// json puts the records under this key of an object, followed by `envelope`; empty: the array itself.
  std::string list_key;
  Object envelope;
  /// A last line of tables (totals), in the columns of the records. Programs find it in the envelope.
  std::optional<Record> footer;
  /// A line above tables that says what is shown; empty for none.
  std::string heading;
};

}  // namespace roofcal::report
