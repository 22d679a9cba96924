#include "cli/app.h"

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <vector>

#include "cli/session.h"
#include "cli/verbs.h"
#include "core/spelling.h"

#ifndef ROOFCAL_VERSION
#error "cli/CMakeLists.txt defines ROOFCAL_VERSION"
#endif

namespace roofcal::cli {
namespace {

constexpr const char* kOverview =
    "Examples:\n"
    "  roofcal predict gemm --gpu h200_sxm --m 4096 --n 8192 --k 8192 --dtype bfloat16\n"
    "  roofcal import measurements/ && roofcal calibrate\n"
    "  roofcal validate gemm_perf.csv --format json\n\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 nothing calibrated that could answer, or no GPU.";

// The command that the words on the command line chose, as far as they go.
const CLI::App* chosen(const CLI::App* app) {
  for (auto below = app->get_subcommands(); !below.empty(); below = app->get_subcommands()) app = below.front();
  return app;
}

std::string path_of(const CLI::App* app) {
  std::string path = app->get_name();
  for (const CLI::App* up = app->get_parent(); up != nullptr; up = up->get_parent()) path = up->get_name() + " " + path;
  return path;
}

std::vector<std::string> verbs_of(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* below : app->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(below->get_name());
  }
  return names;
}

std::vector<std::string> flags_of(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// What a usage error should say: CLI11's words, except where a mistyped word is behind them.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* verb = chosen(&app);
  const auto unexpected = verb->remaining();
  if (!unexpected.empty()) {
    const std::string& word = unexpected.front();
    if (word.starts_with("-")) {
      const std::string flag = word.substr(0, word.find('='));
      return fmt::format("{} is not an option of `{}`{}", flag, path_of(verb), did_you_mean(flag, flags_of(verb)));
    }
    const auto verbs = verbs_of(verb);
    if (!verbs.empty()) {
      return fmt::format(
          "`{}` has no '{}'{}", path_of(verb), word,
          closest(word, verbs) ? did_you_mean(word, verbs) : fmt::format("; there is {}", fmt::join(verbs, ", ")));
    }
    return fmt::format("'{}' was not expected by `{}`", word, path_of(verb));
  }
  const auto verbs = verbs_of(verb);
  if (!verbs.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return fmt::format("`{}` needs one of {}", path_of(verb), fmt::join(verbs, ", "));
  }
  return error.what();
}

int fail(std::ostream& err, std::string_view message, int status) {
  err << "roofcal: " << message << '\n';
  return status;
}

}  // namespace

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err, bool terminal) {
  CLI::App app("A calibrated model of GPU performance: measured kernels in, times with honest intervals out.",
               "roofcal");
  CommonOptions common;
  Action action;
  app.set_help_flag("-h,--help", "show this help");
  app.set_version_flag("--version", std::string("roofcal ") + ROOFCAL_VERSION, "show the version");
  app.require_subcommand(1);
  app.footer(kOverview);
  const Registry registry{app, action};
  add_import(registry);
  add_calibrate(registry);
  add_validate(registry);
  add_predict(registry);
  add_plan(registry);
  add_gpu(registry);
  add_db(registry);
  add_doctor(registry);
  add_later_verbs(registry);
  add_common_options(app, common);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* verb = chosen(&app);
    out << verb->help(verb == &app ? "" : path_of(verb->get_parent()), CLI::AppFormatMode::Normal);
    return 0;
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << '\n';
    return 0;
  } catch (const CLI::ParseError& error) {
    return fail(err, fmt::format("{} (`{} --help` shows how)", explain(app, error), path_of(chosen(&app))), 2);
  }

  Session session(common, out, err, terminal);
  const auto status = action(session);
  out.flush();
  if (!status) return fail(err, status.error().message, exit_status(status.error().code));
  if (!out) return fail(err, "the result could not be written to stdout", 1);
  return *status;
}

}  // namespace roofcal::cli
