#include "cli/step_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/field_text.h"
#include "predictor/models/counts.h"
#include "report/text.h"

namespace roofcal::cli {
namespace {

using report::Audience;
using report::Column;
using report::Object;
using report::Record;
using report::Report;
using report::Unit;
using report::Value;

Value whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }
Value whole(Bytes bytes) { return whole(bytes.value()); }

std::string interval_text(Seconds lo, Seconds hi) {
  return fmt::format("{} .. {}", report::scaled(lo.value(), Unit::seconds), report::scaled(hi.value(), Unit::seconds));
}

// Sizes of a call by column name: its fields, and its attributes.
std::vector<std::pair<std::string, Value>> sizes_of(const OperatorTime& line, const StepTokens& tokens) {
  std::vector<std::pair<std::string, Value>> out;
  const LoweredOperator& lowered = *line.lowered;
  const auto shape = shape_of(lowered, tokens);
  if (!shape) return out;
  const auto fields = lowered.table()->fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    out.emplace_back(column_name(field.name),
                     field.print != nullptr ? Value(field.print((*shape)[i])) : Value((*shape)[i]));
  }
  for (const auto& [name, value] : lowered.attributes) out.emplace_back(column_name(name), value);
  return out;
}

// "m 64, n 8192, k 8192, bfloat16": for people.
std::string sizes_text(const OperatorTime& line, const StepTokens& tokens) {
  std::string out;
  const LoweredOperator& lowered = *line.lowered;
  const auto shape = shape_of(lowered, tokens);
  if (!shape) return out;
  const auto fields = lowered.table()->fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::int64_t value = (*shape)[i];
    if (fields[i].fallback == value) continue;  // no window, no prefix, ...
    out += fmt::format(
        "{}{} {}", out.empty() ? "" : ", ", column_name(fields[i].name),
        is_size(fields[i]) ? report::scaled(static_cast<double>(value), Unit::bytes) : print_field(fields[i], value));
  }
  const auto dtype = lowered.attributes.find("dtype");
  if (dtype != lowered.attributes.end()) out += ", " + dtype->second;
  const auto cache = lowered.attributes.find("kv-dtype");
  if (cache != lowered.attributes.end() && cache->second != dtype->second) out += ", cache " + cache->second;
  const auto ranks = lowered.attributes.find("ranks");
  if (ranks != lowered.attributes.end()) out += fmt::format(", {} ranks", ranks->second);
  return out;
}

// The columns of the sizes of these lines, in the order in which they first appear.
std::vector<std::string> size_columns(const std::vector<ToldStep>& steps) {
  std::vector<std::string> names;
  for (const ToldStep& step : steps) {
    for (const OperatorTime& line : step.lines) {
      for (const auto& [name, value] : sizes_of(line, step.asked.tokens)) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
  }
  return names;
}

std::vector<Column> operator_columns(const std::vector<std::string>& sizes) {
  std::vector<Column> columns = {{"name", "operator"},
                                 {"op", "op", Unit::none, Audience::programs},
                                 {"count", "calls"},
                                 {"call_s", "a call", Unit::seconds},
                                 {"time_s", "time", Unit::seconds},
                                 {"share", "share", Unit::fraction},
                                 {"bound", "bound"},
                                 {"lo_s", "low", Unit::seconds, Audience::programs},
                                 {"hi_s", "high", Unit::seconds, Audience::programs},
                                 {"interval", "90 % interval", Unit::none, Audience::people},
                                 {"roofline_s", "roofline", Unit::seconds, Audience::programs},
                                 {"provenance", "provenance"},
                                 {"framework", "framework", Unit::none, Audience::programs},
                                 {"version", "version", Unit::none, Audience::programs},
                                 {"kernel", "kernel", Unit::none, Audience::programs},
                                 {"sizes", "sizes", Unit::none, Audience::people}};
  for (const std::string& name : sizes) columns.push_back({name, name, Unit::none, Audience::programs});
  return columns;
}

Record operator_record(const ToldStep& step, const OperatorTime& line, const std::vector<std::string>& columns) {
  const Price& each = line.each;
  const Seconds time = line.calls * each.time;
  Record record{line.lowered->name,
                line.lowered->op,
                whole(line.calls),
                each.time.value(),
                time.value(),
                time / step.time.time,
                std::string(to_string(each.bound)),
                (line.calls * each.lo).value(),
                (line.calls * each.hi).value(),
                interval_text(line.calls * each.lo, line.calls * each.hi),
                (line.calls * each.roofline).value(),
                std::string(to_string(each.provenance))};
  const Resolution* by = each.by;
  record.push_back(by != nullptr ? Value(by->framework()) : Value());
  record.push_back(by != nullptr ? Value(by->version()) : Value());
  record.push_back(by != nullptr ? Value(by->kernels()[each.kernel]) : Value());
  record.emplace_back(sizes_text(line, step.asked.tokens));
  const auto sizes = sizes_of(line, step.asked.tokens);
  for (const std::string& name : columns) {
    const auto found = std::ranges::find(sizes, name, &std::pair<std::string, Value>::first);
    record.push_back(found != sizes.end() ? found->second : Value());
  }
  return record;
}

std::shared_ptr<const Report> operators_of(const ToldStep& step, const std::vector<std::string>& sizes) {
  Report out;
  out.columns = operator_columns(sizes);
  for (const OperatorTime& line : step.lines) out.records.push_back(operator_record(step, line, sizes));
  return std::make_shared<const Report>(std::move(out));
}

std::shared_ptr<const Object> memory_of(const MemoryPlan& memory) {
  Object out;
  out.columns = {{"weight_bytes", "weights", Unit::bytes},         {"cache_bytes", "cache", Unit::bytes},
                 {"activation_bytes", "activations", Unit::bytes}, {"overhead_bytes", "overhead", Unit::bytes},
                 {"usable_bytes", "usable", Unit::bytes},          {"gpu_bytes", "of", Unit::bytes}};
  for (const Bytes bytes :
       {memory.weights, memory.cache, memory.activations, memory.overhead, memory.usable, memory.capacity}) {
    out.values.push_back(whole(bytes));
  }
  return std::make_shared<const Object>(std::move(out));
}

std::string heading_of(const ToldStep& step) {
  const std::string spread = to_string(step.spread);
  return fmt::format("{} on {} {}{}: {}", step.model.name, step.spread.gpus(), step.gpu.name,
                     spread.empty() ? "" : " (" + spread + ")", step.asked.text);
}

}  // namespace

Report step_report(const std::vector<ToldStep>& steps, const std::string& phase) {
  const bool drafts = std::ranges::any_of(steps, [](const ToldStep& step) { return step.tokens_a_sequence != 1.0; });
  Report out;
  out.single = steps.size() == 1;
  const Audience asked = out.single ? Audience::programs : Audience::all;
  if (out.single) out.heading = heading_of(steps.front());
  out.columns = {{"model", "model", Unit::none, asked},
                 {"gpu", "gpu", Unit::none, asked},
                 {"gpus", "gpus", Unit::none, asked},
                 {"tp", "tp", Unit::none, Audience::programs},
                 {"pp", "pp", Unit::none, Audience::programs},
                 {"ep", "ep", Unit::none, Audience::programs},
                 {"dp", "dp", Unit::none, Audience::programs},
                 {"phase", "phase", Unit::none, asked},
                 {"tokens", "tokens", Unit::none, Audience::programs},
                 {"parameters", "parameters", Unit::none, Audience::programs},
                 {"active_parameters", "active", Unit::none, Audience::programs},
                 {"weight_bytes", "weights", Unit::bytes, Audience::programs},
                 {"kv_bytes_per_token", "cache a token", Unit::bytes, Audience::programs},
                 {"time_s", "time of the step", Unit::seconds},
                 {"lo_s", "low", Unit::seconds, Audience::programs},
                 {"hi_s", "high", Unit::seconds, Audience::programs},
                 {"interval", "90 % interval", Unit::none, Audience::people},
                 {"tokens_per_sequence", "tokens a sequence", Unit::none, drafts ? Audience::all : Audience::programs},
                 {"token_s", "time a token", Unit::seconds, drafts ? Audience::all : Audience::programs},
                 {"bound", "bound"},
                 {"roofline_s", "roofline", Unit::seconds},
                 {"efficiency", "efficiency", Unit::fraction},
                 {"provenance", "provenance"},
                 {"fits", "fits"},
                 {"memory", "memory a GPU"},
                 {"cache_tokens", "tokens of cache a rank"},
                 {"cache_tokens_left", "of these left"},
                 {"operators", "operators"},
                 {"warnings", "warnings", Unit::none, Audience::programs}};
  for (const ToldStep& step : steps) {
    const models::ModelCounts counts = models::count(step.model);
    const bool decodes = step.asked.tokens.decode.sequences > 0;
    out.records.push_back({step.model.name,
                           step.gpu.name,
                           step.spread.gpus(),
                           step.spread.tp,
                           step.spread.pp,
                           step.spread.ep,
                           step.spread.dp,
                           phase,
                           step.asked.tokens.tokens() * step.spread.dp,
                           whole(counts.parameters),
                           whole(counts.active_parameters),
                           whole(counts.weights),
                           whole(counts.kv_bytes_per_token),
                           step.time.time.value(),
                           step.time.lo.value(),
                           step.time.hi.value(),
                           interval_text(step.time.lo, step.time.hi),
                           decodes ? Value(step.tokens_a_sequence) : Value(),
                           decodes ? Value((step.time.time / step.tokens_a_sequence).value()) : Value(),
                           std::string(to_string(step.time.bound)),
                           step.time.roofline.value(),
                           step.time.roofline / step.time.time,
                           std::string(to_string(step.time.provenance)),
                           step.memory.fits,
                           memory_of(step.memory),
                           step.memory.cache_tokens,
                           step.memory.cache_tokens_left,
                           operators_of(step, size_columns({step})),
                           step.warnings});
  }
  return out;
}

Report operator_rows(const std::vector<ToldStep>& steps) {
  const std::vector<std::string> sizes = size_columns(steps);
  Report out;
  out.columns = {{"model", "model", Unit::none, Audience::programs},
                 {"gpu", "gpu", Unit::none, steps.size() > 1 ? Audience::all : Audience::programs},
                 {"gpus", "gpus", Unit::none, Audience::programs},
                 {"step_time_s", "step", Unit::seconds, Audience::programs},
                 {"step_lo_s", "step, low", Unit::seconds, Audience::programs},
                 {"step_hi_s", "step, high", Unit::seconds, Audience::programs},
                 {"step_provenance", "step, provenance", Unit::none, Audience::programs},
                 {"fits", "fits", Unit::none, Audience::programs}};
  const std::vector<Column> rest = operator_columns(sizes);
  out.columns.insert(out.columns.end(), rest.begin(), rest.end());
  for (const ToldStep& step : steps) {
    for (const OperatorTime& line : step.lines) {
      Record record{step.model.name,
                    step.gpu.name,
                    step.spread.gpus(),
                    step.time.time.value(),
                    step.time.lo.value(),
                    step.time.hi.value(),
                    std::string(to_string(step.time.provenance)),
                    step.memory.fits};
      Record tail = operator_record(step, line, sizes);
      record.insert(record.end(), tail.begin(), tail.end());
      out.records.push_back(std::move(record));
    }
  }
  return out;
}

}  // namespace roofcal::cli
