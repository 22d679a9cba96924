#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/spelling.h"
#include "report/write.h"

namespace roofcal::cli {

void add_common_options(CLI::App& app, CommonOptions& common) {
  const char* group = "For every verb";
  app.add_option("--db", common.db, "the store; default $ROOFCAL_DB, else $XDG_DATA_HOME/roofcal/roofcal.db")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--format", common.format, "table, json, jsonl, csv or md; default table")
      ->type_name("F")
      ->check(one_of(report::format_names()))
      ->group(group);
  app.add_flag("--strict", common.strict,
               "fail rather than answer by what stands in, extrapolates or only bounds, or keep a file's good rows "
               "beside bad ones")
      ->group(group);
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) add_common_options(*verb, common);
}

CLI::App& add_verb(const Registry& registry, const std::string& name, const std::string& description,
                   const std::string& examples) {
  CLI::App& verb = *registry.parent.add_subcommand(name, description);
  verb.set_help_flag("-h,--help", "show this help");
  verb.footer("Examples:\n" + examples);
  return verb;
}

CLI::Validator one_of(std::span<const std::string_view> words) {
  std::vector<std::string> known(words.begin(), words.end());
  return CLI::Validator(
      [known](std::string& text) -> std::string {
        if (std::ranges::find(known, text) != known.end()) return {};
        return fmt::format("'{}' is not one of {}{}", text, fmt::join(known, ", "), did_you_mean(text, known));
      },
      "");
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    std::string_view item = text.substr(start, comma - start);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    out.emplace_back(item);
    start = comma + 1;
  }
  return out;
}

}  // namespace roofcal::cli
