#include "cli/answer_report.h"

#include <fmt/format.h>

#include "cli/field_text.h"
#include "report/text.h"

namespace roofcal::cli {
namespace {

using report::Audience;
using report::Column;
using report::Record;
using report::Report;
using report::Unit;
using report::Value;

constexpr std::size_t kNearest = 5;

Value field_cell(const Field& field, std::int64_t value) {
  return field.print != nullptr ? Value(field.print(value)) : Value(value);
}

Column field_column(const Field& field) {
  return {column_name(field.name), column_name(field.name), is_size(field) ? Unit::bytes : Unit::none, Audience::all};
}

std::shared_ptr<const Report> nearest_report(const Told& told) {
  const Operator& op = told.resolution.op();
  Report out;
  out.columns = {{"distance", "distance"}, {"time_s", "time", Unit::seconds}};
  for (const Field& field : op.fields()) out.columns.push_back(field_column(field));
  for (const Neighbour& point : told.resolution.nearest(told.call.shape, told.answer, kNearest)) {
    Record record{point.distance, point.time ? Value(point.time->value()) : Value()};
    for (std::size_t i = 0; i < op.fields().size(); ++i) {
      record.push_back(field_cell(op.fields()[i], point.shape[i]));
    }
    out.records.push_back(std::move(record));
  }
  return std::make_shared<const Report>(std::move(out));
}

// "gemm on h200_sxm: m 4096, n 8192, k 8192, dtype bfloat16, cache hot"
std::string heading_of(const Told& told) {
  const Operator& op = told.resolution.op();
  std::string out = fmt::format("{} on {}:", op.name(), told.resolution.gpu().name);
  for (std::size_t i = 0; i < op.fields().size(); ++i) {
    const Field& field = op.fields()[i];
    const std::int64_t value = told.call.shape[i];
    out += fmt::format(
        " {} {},", column_name(field.name),
        is_size(field) ? report::scaled(static_cast<double>(value), Unit::bytes) : print_field(field, value));
  }
  for (const auto& [name, value] : told.call.attributes) out += fmt::format(" {} {},", column_name(name), value);
  return out + fmt::format(" cache {}", to_string(told.cache));
}

}  // namespace

std::vector<std::string> all_warnings(const Told& told) {
  const auto general = told.resolution.warnings();
  std::vector<std::string> out(general.begin(), general.end());
  for (std::string& warning : told.resolution.warnings(told.call.shape, told.answer)) out.push_back(std::move(warning));
  return out;
}

std::optional<Error> strict_complaint(Provenance provenance, std::string_view what,
                                      std::span<const std::string> warnings) {
  if (provenance == Provenance::measured || provenance == Provenance::interpolated) return std::nullopt;
  return Error{ErrorCode::not_calibrated, fmt::format("--strict: {} would be {}{}{}", what, to_string(provenance),
                                                      warnings.empty() ? "" : ": ", fmt::join(warnings, "; "))};
}

Report answer_report(const Operator& op, std::span<const Told> answers, bool nearest) {
  Report out;
  out.single = answers.size() == 1;
  // A card says in its heading what was asked.
  const Audience asked = out.single ? Audience::programs : Audience::all;
  if (out.single) out.heading = heading_of(answers.front());

  out.columns.push_back({"op", "op", Unit::none, Audience::programs});
  for (const Field& field : op.fields()) {
    out.columns.push_back(field_column(field));
    out.columns.back().audience = asked;
  }
  for (const AttributeField& attribute : op.attributes()) {
    out.columns.push_back({column_name(attribute.name), column_name(attribute.name), Unit::none, asked});
  }
  out.columns.insert(out.columns.end(), {{"cache", "cache", Unit::none, asked},
                                         {"time_s", "time", Unit::seconds},
                                         {"lo_s", "low", Unit::seconds, Audience::programs},
                                         {"hi_s", "high", Unit::seconds, Audience::programs},
                                         {"interval", "90 % interval", Unit::none, Audience::people},
                                         {"bound", "bound"},
                                         {"roofline_s", "roofline", Unit::seconds},
                                         {"efficiency", "efficiency", Unit::fraction},
                                         {"flops_per_s", "achieved", Unit::flops_per_second, Audience::people},
                                         {"bytes_per_s", "moved", Unit::bytes_per_second, Audience::people},
                                         {"provenance", "provenance"},
                                         {"gpu", "gpu", Unit::none, asked},
                                         {"framework", "framework"},
                                         {"version", "version"},
                                         {"kernel", "kernel"}});
  if (nearest) out.columns.push_back({"nearest", "nearest calibrated points"});
  out.columns.push_back({"warnings", "warnings", Unit::none, Audience::programs});

  for (const Told& told : answers) {
    const Answer& answer = told.answer;
    Record record{std::string(op.name())};
    for (std::size_t i = 0; i < op.fields().size(); ++i) {
      record.push_back(field_cell(op.fields()[i], told.call.shape[i]));
    }
    for (const AttributeField& attribute : op.attributes()) {
      record.emplace_back(told.call.attributes.find(attribute.name)->second);
    }
    const Work work = op.work(told.call.attributes, told.call.shape);
    const Bytes moved = work.bytes() + work.link_bytes;
    const std::vector<std::string> warnings = all_warnings(told);
    Record tail{std::string(to_string(told.cache)),
                answer.time.value(),
                answer.lo.value(),
                answer.hi.value(),
                fmt::format("{} .. {}", report::scaled(answer.lo.value(), Unit::seconds),
                            report::scaled(answer.hi.value(), Unit::seconds)),
                std::string(to_string(answer.bound)),
                answer.roofline.value(),
                answer.efficiency(),
                work.flops.value() > 0.0 ? Value((work.flops / answer.time).value()) : Value(),
                work.flops.value() > 0.0 ? Value() : Value((moved / answer.time).value()),
                std::string(to_string(answer.provenance)),
                told.resolution.gpu().name,
                told.resolution.framework(),
                told.resolution.version(),
                told.resolution.kernels()[answer.kernel]};
    if (nearest) tail.emplace_back(nearest_report(told));
    tail.emplace_back(warnings);
    record.insert(record.end(), tail.begin(), tail.end());
    out.records.push_back(std::move(record));
  }
  return out;
}

}  // namespace roofcal::cli
