// How long a step of a model takes: its operators priced one by one, summed with their errors.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "predictor/predictor.h"
#include "predictor/step/operator_price.h"
#include "predictor/step/step_interval.h"

namespace roofcal {

/// Who answers: as in Question, for all operators of the model.
struct StepQuestion {
  std::string gpu;
  std::string framework, version;  ///< empty: each operator's default
  LowerOptions lower;
};

/// One line of a breakdown: all calls of one operator in a step.
struct OperatorTime {
  const LoweredOperator* lowered = nullptr;
  std::size_t index = 0;  ///< into StepPredictor::operators()
  double calls = 0.0;
  Price each;  ///< of one call
};

struct StepTime {
  Seconds time{}, lo{}, hi{};    ///< lo, hi: the 90 % interval
  Seconds roofline{};            ///< the sum of all hard bounds
  Limit bound = Limit::compute;  ///< what limits most of the time
  /// The weakest that more than a twentieth of the time rests on, together with what is weaker still.
  Provenance provenance = Provenance::roofline;
};

/// Remembers what it priced, so that a step like an earlier one costs microseconds. Not for use by several threads at
/// once; calibrations are read when a step first needs them.
class StepPredictor {
 public:
  /// `predictor` outlives it. Errors: a GPU that is not known or lacks the arithmetic of the model's formats; a spread
  /// that does not fit the model.
  [[nodiscard]] static Result<StepPredictor> make(const Predictor& predictor, const GpuSpec& gpu,
                                                  const models::ModelDescription& model, const Parallelism& spread,
                                                  const StepQuestion& question);

  [[nodiscard]] Result<StepTime> evaluate(const StepTokens& tokens);
  /// As evaluate(); `lines` gets the operators that the step runs, in their order.
  [[nodiscard]] Result<StepTime> evaluate(const StepTokens& tokens, std::vector<OperatorTime>& lines);

  [[nodiscard]] std::span<const LoweredOperator> operators() const { return *operators_; }
  [[nodiscard]] const GpuSpec& gpu() const { return *gpu_; }
  /// What the answers of these lines leave to be said, each once: what stands in for what, what is priced by its bound.
  [[nodiscard]] std::vector<std::string> warnings(const StepTokens& tokens, std::span<const OperatorTime> lines) const;

 private:
  StepPredictor(const Predictor& predictor, const GpuSpec& gpu, StepQuestion question);
  /// Has the calibrations read that this step is the first to need.
  void expect(const StepTokens& tokens) const;
  [[nodiscard]] Result<void> prepare(std::size_t index);
  [[nodiscard]] Result<std::shared_ptr<const Resolution>> resolve(const LoweredOperator& lowered,
                                                                  const std::string& framework) const;
  /// Another framework of the same GPU, whose times are to be trusted where those of the first are not (trust.h); null
  /// when that is not needed or there is none.
  [[nodiscard]] Result<std::shared_ptr<const Resolution>> trusted(const LoweredOperator& lowered,
                                                                  const Resolution& instead_of) const;
  [[nodiscard]] Answering answering(std::shared_ptr<const Resolution> resolution);

  const Predictor* predictor_;
  const GpuSpec* gpu_;
  StepQuestion question_;
  std::unique_ptr<const std::vector<LoweredOperator>> operators_;
  std::unique_ptr<const MemoryBandwidth> bandwidth_;
  std::vector<std::unique_ptr<OperatorPricer>> pricers_;  // by operator; null until a step runs it
  // By operator's name, attributes and whether its attention is grouped: who answers; where nobody does, why.
  struct Known {
    Answering first, second;
    std::string reason;
  };
  std::map<std::tuple<std::string, Attributes, bool>, Known> known_;
  std::size_t classes_ = 1;  // class 0: what is priced by its bound
  StepInterval interval_;
  std::vector<OperatorTime> lines_;
};

}  // namespace roofcal
