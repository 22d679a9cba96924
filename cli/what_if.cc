// `gpu what-if`: a GPU with figures of its own.
#include "db/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/session.h"
#include "cli/verbs.h"

namespace roofcal::cli {
namespace {

struct WhatIfOptions {
  std::string base, changes, name;
};

std::string known_parameters() {
  std::string out = "What --set knows:";
  for (const WhatIfParameter& parameter : what_if_parameters()) {
    out += fmt::format("\n  {:<9} {}", parameter.name, parameter.help);
  }
  return out;
}

// What differs between the two, as a person reads it.
report::Report changed_figures(const CatalogueEntry& base, const CatalogueEntry& made) {
  report::Report out;
  out.columns = {{"figure", "figure"}, {"before", "before"}, {"after", "after"}, {"factor", "factor"}};
  for (const Figure& figure : made.figures) {
    if (figure.source != "what-if") continue;
    const auto before = std::ranges::find(base.figures, figure.name, &Figure::name);
    const bool had = before != base.figures.end();
    out.records.push_back({figure.name, had ? report::Value(before->value) : report::Value(), figure.value,
                           had ? report::Value(figure.value / before->value) : report::Value()});
  }
  return out;
}

Result<int> what_if(Session& session, const WhatIfOptions& options) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const CatalogueEntry* base = (*catalogue)->find(options.base);
  if (base == nullptr) {
    return Error{ErrorCode::usage,
                 fmt::format("GPU '{}' is not in the catalogue; `roofcal gpu list` shows it", options.base)};
  }
  const auto changes = parse_figure_changes(options.changes);
  if (!changes) return changes.error();
  const CatalogueEntry* before = (*catalogue)->find(options.name);
  if (before != nullptr && (before->origin != "store" || before->spec.name != options.name || before == base)) {
    return Error{ErrorCode::usage,
                 fmt::format("the name '{}' already means {}: give another --name", options.name, before->spec.name)};
  }
  const auto text = what_if_gpu(*base, *changes, options.name);
  if (!text) return text.error();
  // What the changes make must be a GPU that the catalogue takes.
  GpuCatalogue together = **catalogue;
  const auto added = together.add(*text, options.name, "store");
  if (!added) return Error{ErrorCode::usage, added.error().message};
  if (before != nullptr) session.warn(fmt::format("{} replaces the one of that name in the store", options.name));
  const auto store = session.writable_store();
  if (!store) return store.error();
  const auto stored = (*store)->put_gpu(options.name, *text);
  if (!stored) return stored.error();

  const CatalogueEntry& made = *together.find(options.name);
  report::Report figures = changed_figures(*base, made);
  const bool flat = session.format() == report::Format::csv || session.format() == report::Format::md;
  if (flat) {
    session.print(figures);
    return 0;
  }
  report::Report out;
  out.single = true;
  out.columns = {{"gpu", "gpu"}, {"name", "name"}, {"store", "stored in"}, {"figures", "changed figures, SI units"}};
  out.records.push_back({made.spec.name, made.spec.display_name, session.store_path().string(),
                         std::make_shared<const report::Report>(std::move(figures))});
  session.print(out);
  return 0;
}

}  // namespace

void add_gpu_what_if(const Registry& gpu) {
  CLI::App& verb = add_verb(gpu, "what-if", "a GPU with figures of its own",
                            "  roofcal gpu what-if h200_sxm --set mem_bw=8TB/s,sms=160 --name future1\n"
                            "  roofcal gpu what-if b200_sxm --set mem_bw=2x,memory=288GB --name b200_plus\n" +
                                known_parameters());
  const auto options = std::make_shared<WhatIfOptions>();
  verb.add_option("G", options->base, "the GPU to change")->required()->type_name("");
  verb.add_option("--set", options->changes, "what changes, to a value or by a factor")
      ->required()
      ->type_name("P=VALUE,...");
  verb.add_option("--name", options->name, "the name that it gets")->required()->type_name("NAME");
  Action& action = gpu.action;
  verb.callback([&action, options] { action = [options](Session& session) { return what_if(session, *options); }; });
}

}  // namespace roofcal::cli
