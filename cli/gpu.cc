// `gpu`: the catalogue of datasheet figures.
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "cli/session.h"
#include "cli/verbs.h"

namespace roofcal::cli {
namespace {

using report::Unit;

Result<int> list(Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const auto library = session.library();
  if (!library) return library.error();
  const auto available = (*library)->available();
  if (!available) return available.error();
  std::map<std::string, std::set<std::string>, std::less<>> calibrated;
  for (const ClassKey& key : *available) calibrated[key.gpu].insert(key.op);

  report::Report out;
  out.columns = {{"gpu", "gpu"},
                 {"name", "name"},
                 {"architecture", "architecture"},
                 {"compute_capability", "cc"},
                 {"sm_count", "SMs"},
                 {"memory_bytes", "memory", Unit::bytes},
                 {"memory_bandwidth_bytes_per_s", "bandwidth", Unit::bytes_per_second},
                 {"l2_bytes", "L2", Unit::bytes},
                 {"bfloat16_flops_per_s", "bfloat16", Unit::flops_per_second},
                 {"fp8_flops_per_s", "fp8", Unit::flops_per_second},
                 {"tdp_w", "TDP", Unit::watts},
                 {"origin", "origin"},
                 {"calibrated", "calibrated"}};
  // A part without a unit has no figure, rather than one of zero.
  const auto peak = [](const GpuSpec& spec, Rate rate) {
    return spec.has(rate) ? report::Value(spec.peak(rate).value()) : report::Value();
  };
  for (const CatalogueEntry* entry : (*catalogue)->all()) {
    const GpuSpec& spec = entry->spec;
    const auto& ops = calibrated[spec.name];
    out.records.push_back({spec.name, spec.display_name, spec.architecture, spec.compute_capability,
                           static_cast<std::int64_t>(spec.sm_count), static_cast<std::int64_t>(spec.memory.value()),
                           spec.memory_bandwidth.value(), static_cast<std::int64_t>(spec.l2.value()),
                           peak(spec, Rate::bfloat16), peak(spec, Rate::fp8), spec.tdp.value(), entry->origin,
                           std::vector<std::string>(ops.begin(), ops.end())});
  }
  session.print(out);
  return 0;
}

Error unknown(const GpuCatalogue& catalogue, std::string_view name) {
  const auto close = catalogue.suggestions(name);
  return Error{ErrorCode::usage,
               fmt::format("GPU '{}' is not in the catalogue; {}", name,
                           close.empty() ? std::string("`roofcal gpu list` shows it")
                                         : fmt::format("did you mean {}?", fmt::join(close, " or ")))};
}

Result<int> show(Session& session, const std::string& name) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const CatalogueEntry* entry = (*catalogue)->find(name);
  if (entry == nullptr) return unknown(**catalogue, name);

  report::Report figures;
  figures.columns = {{"name", "figure"}, {"value", "value"}, {"source", "source"}, {"note", "note"}};
  for (const Figure& figure : entry->figures) {
    figures.records.push_back({figure.name, figure.value, figure.source, figure.note});
  }
  report::Report out;
  out.single = true;
  out.columns = {{"gpu", "gpu"},
                 {"name", "name"},
                 {"architecture", "architecture"},
                 {"compute_capability", "compute capability"},
                 {"origin", "origin"},
                 {"aliases", "also known as"},
                 {"figures", "figures, SI units"}};
  const std::string aliases = fmt::format("{}", fmt::join(entry->aliases, ", "));
  const bool for_people = session.format() == report::Format::table || session.format() == report::Format::md;
  out.records.push_back({entry->spec.name, entry->spec.display_name, entry->spec.architecture,
                         entry->spec.compute_capability, entry->origin,
                         for_people ? report::Value(aliases) : report::Value(entry->aliases),
                         std::make_shared<const report::Report>(figures)});
  // One figure a line is what a table of this can be.
  const bool flat = session.format() == report::Format::csv || session.format() == report::Format::md;
  session.print(flat ? figures : out);
  return 0;
}

Result<int> add(Session& session, const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return Error{ErrorCode::io, fmt::format("cannot read {}", file)};
  const auto known = session.catalogue();
  if (!known) return known.error();

  // Read into a catalogue of its own first: what the file calls itself is the name it is stored under.
  GpuCatalogue alone;
  const auto read = alone.add(text.str(), file, "store");
  if (!read) return read.error();
  const GpuSpec& spec = alone.all().front()->spec;
  const CatalogueEntry* before = (*known)->find(spec.name);
  GpuCatalogue together = **known;
  const auto fits = together.add(text.str(), file, "store");
  if (!fits) return fits.error();
  if (before != nullptr) {
    session.warn(fmt::format("{} replaces the {} entry of that name", spec.name, before->origin));
  }
  const auto store = session.writable_store();
  if (!store) return store.error();
  const auto stored = (*store)->put_gpu(spec.name, text.str());
  if (!stored) return stored.error();
  report::Report out;
  out.single = true;
  out.columns = {{"gpu", "gpu"}, {"name", "name"}, {"store", "stored in"}};
  out.records.push_back({spec.name, spec.display_name, session.store_path().string()});
  session.print(out);
  return 0;
}

}  // namespace

void add_gpu(const Registry& registry) {
  CLI::App& gpu = add_verb(registry, "gpu", "the catalogue of GPUs",
                           "  roofcal gpu list\n"
                           "  roofcal gpu show \"NVIDIA H200\"");
  gpu.require_subcommand(1);
  const Registry below = registry.below(gpu);
  Action& action = registry.action;

  CLI::App& list_verb = add_verb(below, "list", "every GPU with its main figures", "  roofcal gpu list --format csv");
  list_verb.callback([&action] { action = [](Session& session) { return list(session); }; });

  CLI::App& show_verb = add_verb(below, "show", "one GPU, every figure with its source", "  roofcal gpu show h200_sxm");
  const auto name = std::make_shared<std::string>();
  show_verb.add_option("G", *name, "a name as users or drivers write it")->required()->type_name("");
  show_verb.callback([&action, name] { action = [name](Session& session) { return show(session, *name); }; });

  CLI::App& add_verb_ = add_verb(below, "add", "add a GPU, or replace one",
                                 "  roofcal gpu add my_gpu.json\n"
                                 "The file has the layout of those in db/catalogue/.");
  const auto file = std::make_shared<std::string>();
  add_verb_.add_option("FILE", *file, "JSON with name, figures and their sources")->required()->type_name("");
  add_verb_.callback([&action, file] { action = [file](Session& session) { return add(session, *file); }; });

  add_gpu_what_if(below);
}

}  // namespace roofcal::cli
