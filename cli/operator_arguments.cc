#include "cli/operator_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/field_text.h"
#include "cli/options.h"

namespace roofcal::cli {
namespace {

constexpr std::size_t kMostCalls = 1'000'000;

// An empty text would pass for a flag that was not given.
CLI::Validator not_empty() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? std::string("is empty") : ""; }, "");
}

// Serving engines say prefill and decode for the phases of an attention.
CLI::Validator serving_words() {
  return CLI::Validator(
      [](std::string& text) {
        if (text == "prefill") text = "context";
        if (text == "decode") text = "generation";
        return std::string();
      },
      "");
}

bool has_flag(const Operator& op, std::string_view flag) {
  const auto named = [flag](const auto& entry) { return flag_name(entry.name) == flag; };
  return std::ranges::any_of(op.fields(), named) || std::ranges::any_of(op.attributes(), named);
}

std::string help_of(const Field& field) {
  std::string help(field.help);
  if (field.fallback) help += fmt::format("; default {}", print_field(field, *field.fallback));
  return help;
}

std::string help_of(const AttributeField& attribute) {
  std::string help(attribute.help);
  if (attribute.fallback.starts_with('=')) {
    help += fmt::format("; default that of --{}", flag_name(attribute.fallback.substr(1)));
  } else if (!attribute.fallback.empty()) {
    help += fmt::format("; default {}", attribute.fallback);
  }
  return help;
}

// The texts that a name of the call can take, one a value: numbers spelled out, words as they were written.
struct Choices {
  std::string name;
  std::vector<std::string> texts;
};

}  // namespace

std::vector<Family> operator_families() {
  std::vector<Family> families;
  for (const Operator* op : all_operators()) {
    auto found = std::ranges::find(families, op->family(), &Family::name);
    if (found == families.end()) found = families.insert(families.end(), Family{std::string(op->family()), {}});
    found->operators.push_back(op);
  }
  return families;
}

OperatorArguments::OperatorArguments(Family family) : family_(std::move(family)) {}

void OperatorArguments::add_options(CLI::App& verb) {
  if (family_.operators.size() > 1) {
    std::vector<std::string_view> phases;
    for (const Operator* op : family_.operators) phases.push_back(op->phase());
    verb.add_option("--phase", phase_, fmt::format("{}; prefill and decode mean these", fmt::join(phases, " or ")))
        ->type_name("P")
        ->check(one_of(phases))
        ->transform(serving_words())
        ->group("Shape");
  }
  const auto add = [&](std::string_view name, const std::string& help, const char* type, const char* group) {
    const std::string flag = flag_name(name);
    const auto [text, fresh] = texts_.try_emplace(flag);
    if (fresh) verb.add_option("--" + flag, text->second, help)->type_name(type)->group(group)->check(not_empty());
  };
  for (const Operator* op : family_.operators) {
    for (const Field& field : op->fields()) {
      const char* type = field.parse != nullptr ? "WORD" : is_size(field) ? "SIZE" : "N";
      add(field.name, help_of(field), type, "Shape");
    }
    for (const AttributeField& attribute : op->attributes()) add(attribute.name, help_of(attribute), "A", "Kind");
  }
}

Result<const Operator*> OperatorArguments::chosen() const {
  if (family_.operators.size() == 1) return family_.operators.front();
  for (const Operator* op : family_.operators) {
    if (op->phase() == phase_) return op;
  }
  std::vector<std::string_view> phases;
  for (const Operator* op : family_.operators) phases.push_back(op->phase());
  return Error{ErrorCode::usage, fmt::format("--phase is required: {}", fmt::join(phases, " or "))};
}

Result<std::vector<Call>> OperatorArguments::calls(const Operator& op) const {
  for (const auto& [flag, text] : texts_) {
    if (!text.empty() && !has_flag(op, flag)) {
      return Error{ErrorCode::usage, fmt::format("--{} means nothing to {} {}", flag, op.phase(), op.family())};
    }
  }
  std::vector<Choices> choices;
  std::size_t combinations = 1;
  const auto add = [&](std::string_view name, std::vector<std::string> texts) {
    combinations = texts.size() > kMostCalls / combinations ? kMostCalls + 1 : combinations * texts.size();
    choices.push_back({std::string(name), std::move(texts)});
    return combinations <= kMostCalls;
  };
  const Error too_many{ErrorCode::usage, fmt::format("the lists combine to more than {} calls; `roofcal predict rows` "
                                                     "streams any number",
                                                     kMostCalls)};
  for (const AttributeField& attribute : op.attributes()) {
    const std::string& text = texts_.at(flag_name(attribute.name));
    if (text.empty() && attribute.fallback.empty()) {
      return Error{ErrorCode::usage, fmt::format("--{} is required: {}", flag_name(attribute.name), attribute.help)};
    }
    if (!text.empty() && !add(attribute.name, split_list(text))) return too_many;
  }
  for (const Field& field : op.fields()) {
    const std::string& text = texts_.at(flag_name(field.name));
    if (text.empty()) {
      if (field.fallback) continue;
      return Error{ErrorCode::usage, fmt::format("--{} is required: {}", flag_name(field.name), field.help)};
    }
    const auto values = field_values(field, text);
    if (!values) return values.error();
    std::vector<std::string> texts;
    for (const std::int64_t value : *values) texts.push_back(print_field(field, value));
    if (!add(field.name, std::move(texts))) return too_many;
  }

  std::vector<Call> calls;
  calls.reserve(combinations);
  std::vector<std::size_t> digits(choices.size(), 0);
  for (std::size_t c = 0; c < combinations; ++c) {
    const auto call = parse_call(op, [&](std::string_view name) -> std::optional<std::string_view> {
      for (std::size_t i = 0; i < choices.size(); ++i) {
        if (choices[i].name == name) return choices[i].texts[digits[i]];
      }
      return std::nullopt;
    });
    if (!call) return call.error();
    calls.push_back(*call);
    for (std::size_t i = digits.size(); i-- > 0;) {
      if (++digits[i] < choices[i].texts.size()) break;
      digits[i] = 0;
    }
  }
  return calls;
}

}  // namespace roofcal::cli
