#include "cli/question_options.h"

#include <algorithm>
#include <array>

#include "cli/options.h"
#include "core/lower_case.h"

namespace roofcal::cli {

void QuestionOptions::add_options(CLI::App& verb, const std::string& gpu_help) {
  static constexpr std::array<std::string_view, 2> modes{"hot", "cold"};
  const char* group = "Who answers";
  verb.add_option("--gpu", gpu, gpu_help)->type_name("G")->group(group);
  verb.add_option("--framework", framework, "trtllm, vllm, sglang, ...; default: the first of these that is calibrated")
      ->type_name("F")
      ->group(group);
  verb.add_option("--framework-version", version, "default: the newest calibrated")->type_name("V")->group(group);
  verb.add_option("--kernel", kernel, "force a kernel; default: the one the framework was seen to choose")
      ->type_name("NAME")
      ->group(group);
  verb.add_option("--cache", cache, "hot: operands may wait in L2; cold: they come from memory; default hot")
      ->type_name("MODE")
      ->check(one_of(modes))
      ->group(group);
}

Question QuestionOptions::question(std::string_view one_gpu) const {
  Question question;
  question.gpu = one_gpu;
  question.framework = framework_name(framework);
  question.version = version;
  question.kernel = kernel;
  question.cache = parse_cache_mode(cache).value_or(CacheMode::hot);
  return question;
}

std::string framework_name(std::string_view text) { return lower_case(text); }

}  // namespace roofcal::cli
