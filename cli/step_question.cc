#include "cli/step_question.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/predict_model.h"

namespace roofcal::cli {
namespace {

// What the operators allow (core/attention.cc, core/moe.cc), and tokens of a step together.
constexpr std::int64_t kMostSequences = std::int64_t{1} << 20;
constexpr std::int64_t kMostLength = std::int64_t{1} << 26;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 30;
constexpr std::int64_t kMostDrafted = 64;

Error usage(std::string message) { return Error{ErrorCode::usage, std::move(message)}; }

std::string counted(std::int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

Result<void> check_sizes(const ModelOptions& options) {
  if (options.phase.empty()) return usage("--phase is required: prefill, decode or mixed (--describe needs none)");
  if (options.isl == 0) return usage("--isl is required: the input tokens of a sequence");
  if (options.batch > kMostSequences) {
    return usage(fmt::format("--batch {} is more than {} sequences", options.batch, kMostSequences));
  }
  if (options.isl > kMostLength || options.osl > kMostLength || options.chunk > kMostLength) {
    return usage(fmt::format("more than {} tokens a sequence", kMostLength));
  }
  if (options.prefix >= options.isl) {
    return usage(
        fmt::format("--prefix {} leaves nothing of --isl {} to compute: it counts those input tokens that are "
                    "cached already",
                    options.prefix, options.isl));
  }
  if (options.phase == "decode" && options.prefix > 0) {
    return usage("--prefix is for prefill and mixed steps: what decodes has all its input cached");
  }
  if (options.phase != "mixed" && options.chunk > 0) {
    return usage("--chunk is for mixed steps: the prefill tokens that join the ones that decode");
  }
  if (options.phase == "prefill" && options.draft_tokens > 0) {
    return usage("--draft-tokens is for decode and mixed steps");
  }
  if (options.draft_tokens > kMostDrafted) {
    return usage(fmt::format("--draft-tokens {} is more than {}", options.draft_tokens, kMostDrafted));
  }
  if (options.draft_acceptance >= 0.0 && options.draft_tokens == 0) {
    return usage("--draft-acceptance says how many of --draft-tokens are kept: give both");
  }
  return {};
}

// A chunk is part of one prompt, or several whole ones.
Result<StepTokens::Prefill> chunk_of(const ModelOptions& options) {
  const std::int64_t prompt = options.isl - options.prefix;
  const std::int64_t chunk = options.chunk > 0 ? options.chunk : prompt;
  if (chunk <= prompt) return StepTokens::Prefill{1, chunk, options.prefix};
  if (chunk % prompt != 0) {
    return usage(
        fmt::format("--chunk {} is more than a prompt and no whole number of prompts of {} tokens", chunk, prompt));
  }
  return StepTokens::Prefill{chunk / prompt, prompt, options.prefix};
}

}  // namespace

Parallelism asked_spread(const ModelOptions& options) { return {options.tp, options.pp, options.ep, options.dp}; }

Result<AskedStep> asked_step(const ModelOptions& options) {
  if (auto checked = check_sizes(options); !checked) return checked.error();
  AskedStep out;
  const std::string a_rank = options.dp > 1 ? " a rank" : "";
  if (options.phase == "prefill") {
    const std::int64_t tokens = options.isl - options.prefix;
    out.tokens.prefill = {options.batch, tokens, options.prefix};
    out.text = fmt::format("prefill of {}{}, {} new tokens each", counted(options.batch, "sequence"), a_rank, tokens);
    if (options.prefix > 0) out.text += fmt::format(" behind {} cached ones", options.prefix);
  } else {
    // With outputs of --osl tokens the cache is, on average over them, half of that longer than the input.
    const std::int64_t context = options.isl + (options.osl + 1) / 2;
    out.tokens.decode = {options.batch, context, options.draft_tokens};
    out.text =
        fmt::format("decode of {}{} at {} tokens of context", counted(options.batch, "sequence"), a_rank, context);
    if (options.draft_tokens > 0)
      out.text += fmt::format(", checking {}", counted(options.draft_tokens, "drafted token"));
  }
  if (options.phase == "mixed") {
    const auto chunk = chunk_of(options);
    if (!chunk) return chunk.error();
    out.tokens.prefill = *chunk;
    out.text += fmt::format(", with {} of prefill", counted(out.tokens.prefill_tokens(), "token"));
    if (options.prefix > 0) out.text += fmt::format(" behind {} cached ones", options.prefix);
  }
  if (out.tokens.tokens() > kMostTokens || out.tokens.tokens() * options.dp > kMostTokens) {
    return usage(fmt::format("{} tokens in one step are more than {}", out.tokens.tokens(), kMostTokens));
  }
  out.cached.count = out.tokens.sequences();
  out.cached.length = options.isl + options.osl + options.draft_tokens;
  return out;
}

}  // namespace roofcal::cli
