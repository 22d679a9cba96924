// Options that several verbs share, and what a verb needs to register itself.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace roofcal::cli {

class Session;

/// What every verb takes.
struct CommonOptions {
  std::string db;      ///< empty: the default store
  std::string format;  ///< empty: the verb's default
  bool strict = false;
};

/// What a verb does once the command line has been read. The value is the exit status; an Error becomes one line on
/// stderr and its own status.
using Action = std::function<Result<int>(Session&)>;

/// Where verbs register: the command above them, and the slot for the action of the one chosen.
struct Registry {
  CLI::App& parent;
  Action& action;

  [[nodiscard]] Registry below(CLI::App& verb) const { return {verb, action}; }
};

/// Adds the common options to a command and to all verbs below it.
void add_common_options(CLI::App& app, CommonOptions& common);

/// Adds a verb with examples for its --help.
CLI::App& add_verb(const Registry& registry, const std::string& name, const std::string& description,
                   const std::string& examples);

/// A validator for an option that takes one of a few words.
[[nodiscard]] CLI::Validator one_of(std::span<const std::string_view> words);

/// Texts between commas, surrounding blanks dropped.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

}  // namespace roofcal::cli
