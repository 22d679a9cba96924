// `predict`: times of single operators.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>

#include "cli/answer_report.h"
#include "cli/operator_arguments.h"
#include "cli/question_options.h"
#include "cli/session.h"
#include "cli/verbs.h"

namespace roofcal::cli {
namespace {

constexpr std::size_t kMostWarnings = 20;  // lines on stderr; each answer keeps its own

struct Options {
  explicit Options(Family family) : arguments(std::move(family)) {}
  OperatorArguments arguments;
  QuestionOptions question;
};

Result<int> predict(Session& session, const Options& options) {
  const auto op = options.arguments.chosen();
  if (!op) return op.error();
  if (options.question.gpu.empty()) {
    return Error{ErrorCode::usage, "--gpu is required: a name such as h200_sxm (`roofcal gpu list` shows them)"};
  }
  const auto calls = options.arguments.calls(**op);
  if (!calls) return calls.error();
  const auto predictor = session.predictor();
  if (!predictor) return predictor.error();

  std::vector<std::shared_ptr<const Resolution>> resolutions;
  std::vector<Told> answers;
  for (const std::string& gpu : split_list(options.question.gpu)) {
    std::map<Attributes, const Resolution*> by_attributes;
    for (const Call& call : *calls) {
      const Resolution*& resolution = by_attributes[call.attributes];
      if (resolution == nullptr) {
        Question question = options.question.question(gpu);
        question.op = (*op)->name();
        question.attributes = call.attributes;
        auto resolved = (*predictor)->resolve(question);
        if (!resolved) return resolved.error();
        resolutions.push_back(*std::move(resolved));
        resolution = resolutions.back().get();
      }
      const CacheMode cache = options.question.question(gpu).cache;
      answers.push_back({*resolution, call, cache, resolution->predict(call.shape)});
    }
  }

  std::set<std::string> warned;
  for (const Told& told : answers) {
    const auto warnings = all_warnings(told);
    if (session.options().strict) {
      if (auto complaint = strict_complaint(told.answer.provenance, "the answer", warnings)) return *complaint;
    }
    for (const std::string& warning : warnings) {
      if (warned.insert(warning).second && warned.size() <= kMostWarnings) session.warn(warning);
    }
  }
  if (warned.size() > kMostWarnings) {
    session.warn(
        fmt::format("{} more warnings; --format json has each with its answer", warned.size() - kMostWarnings));
  }
  const report::Format format = session.format();
  const bool nested = answers.size() == 1 || format == report::Format::json || format == report::Format::jsonl;
  session.print(answer_report(**op, answers, nested));
  return 0;
}

// A call that an operator would accept, as an example for its help: flags whose values are required.
std::string example_of(const Family& family) {
  static const std::map<std::string, std::string, std::less<>> examples{
      {"gemm", "--m 4096 --n 8192 --k 8192 --dtype bfloat16"},
      {"attention", "--phase context --batch 1 --seq 4096 --heads 32 --kv-heads 8 --head-dim 128"},
      {"mla", "--phase generation --batch 16 --seq 4096 --heads 128"},
      {"moe", "--tokens 1024 --hidden 7168 --inter 2048 --experts 256 --topk 8"},
      {"collective", "--collective all_reduce --ranks 8 --bytes 64MiB"},
      {"memory", "--bytes-read 64MiB --bytes-written 64MiB"}};
  const auto known = examples.find(family.name);
  const std::string flags = known == examples.end() ? "--help" : known->second;
  std::string out = fmt::format("  roofcal predict {} --gpu h200_sxm {}\n", family.name, flags);
  out += "Numbers may be lists (1,2,4), ranges (1:64:8) or powers (2^0:2^15): one answer each.";
  return out;
}

}  // namespace

void add_predict(const Registry& registry) {
  CLI::App& verb = add_verb(registry, "predict", "how long an operator takes, and how sure that is",
                            "  roofcal predict gemm --gpu h200_sxm --m 4096 --n 8192 --k 8192 --dtype bfloat16\n"
                            "  roofcal predict gemm --gpu h100_sxm,b200_sxm --m 2^0:2^13 --n 8192 --k 8192\n"
                            "  roofcal predict rows calls.csv --gpu h200_sxm");
  verb.require_subcommand(1);
  const Registry below = registry.below(verb);
  for (const Family& family : operator_families()) {
    std::string help(family.operators.front()->help());
    for (std::size_t i = 1; i < family.operators.size(); ++i) help += fmt::format("; {}", family.operators[i]->help());
    CLI::App& leaf = add_verb(below, family.name, help, example_of(family));
    const auto options = std::make_shared<Options>(family);
    options->arguments.add_options(leaf);
    options->question.add_options(leaf, "GPU, or several: A,B");
    Action& action = registry.action;
    leaf.callback([options, &action] { action = [options](Session& session) { return predict(session, *options); }; });
  }
  add_predict_rows(below);
  add_predict_model(below);
  add_later_predictions(below);
}

}  // namespace roofcal::cli
