// Feed-forward layers, dense and of experts, as operators of one GPU.
#include <cmath>

#include "predictor/step/lowering.h"

namespace roofcal::lowering {
namespace {

using models::DenseFfn;
using models::MoeFfn;
using models::Part;

constexpr double kHalf = 2.0;

void dense(Writer& writer, const std::string& prefix, Part part, std::int64_t inter, bool gated) {
  const std::int64_t hidden = writer.model.hidden;
  const std::int64_t width = inter / writer.spread.tp;
  writer.gemm(prefix + (gated ? "gate and up projection" : "up projection"), part, Rows::tokens,
              gated ? 2 * width : width, hidden);
  writer.memory(prefix + "activation", Rows::tokens, real(gated ? 2 * width : width), real(width));
  writer.gemm(prefix + "down projection", part, Rows::tokens, hidden, width);
}

// How many of `ranks` a token reaches when it takes `topk` experts at random.
double reached(double ranks, double topk) { return ranks * (1.0 - std::pow(1.0 - 1.0 / ranks, topk)); }

// Tokens of all attention ranks meet at the experts and go back. Shared out experts: each token goes to the GPUs that
// hold its experts (all-to-all); otherwise everyone gathers all tokens and the results are scattered.
void exchange(Writer& writer, const MoeFfn& moe, bool before) {
  const Parallelism& spread = writer.spread;
  const double hidden = real(writer.model.hidden);
  if (spread.dp == 1) {
    if (!before) writer.collective("all-reduce", "all_reduce", spread.tp, Rows::tokens, kHalf * hidden);
    return;
  }
  const std::int64_t ranks = spread.stage_gpus();
  const double bytes = before ? find_dtype(writer.model.formats.experts)->activation_bytes : kHalf;
  if (spread.moe_tp() == 1) {
    const double copies = reached(real(ranks), real(moe.topk)) / real(spread.tp);
    writer.collective(before ? "dispatch to experts" : "combine from experts", "all_to_all", ranks, Rows::tokens,
                      bytes * hidden * copies);
  } else {
    writer.collective(before ? "gather tokens" : "scatter results", before ? "all_gather" : "reduce_scatter", ranks,
                      Rows::tokens, bytes * hidden * real(spread.dp));
  }
  if (!before) {
    writer.collective("all-gather", "all_gather", spread.tp, Rows::tokens, kHalf * hidden);
    if (moe.shared_inter > 0) {
      writer.collective("shared expert all-reduce", "all_reduce", spread.tp, Rows::tokens, kHalf * hidden);
    }
  }
}

void experts(Writer& writer, const MoeFfn& moe) {
  const Parallelism& spread = writer.spread;
  const double hidden = real(writer.model.hidden);
  const double count = real(moe.experts);
  BoundSizes router;  // scores of all experts, then the best of them
  router.flops_per_row = 2.0 * hidden * count;
  router.read_per_row = kHalf * hidden + 4.0 * count;
  router.written_per_row = 4.0 * count + 8.0 * real(moe.topk);
  writer.bound("router", "router", router, hidden * count + (moe.shared_gate ? hidden : 0.0));
  exchange(writer, moe, true);

  LoweredOperator call;
  call.name = "experts";
  call.op = "moe";
  call.attributes = {{"dtype", writer.model.formats.experts}, {"gated", moe.gated ? "yes" : "no"}};
  call.sizes = MoeSizes{Rows::tokens,    spread.dp, writer.model.hidden,        moe.inter, moe.experts, moe.topk,
                        spread.moe_tp(), spread.ep, writer.options.distribution};
  call.weights = count / real(spread.ep) * (moe.gated ? 3.0 : 2.0) * hidden * real(moe.inter / spread.moe_tp());
  call.weight_bytes = Bytes(call.weights * find_dtype(writer.model.formats.experts)->weight_bytes);
  writer.add(std::move(call));
  if (moe.shared_inter > 0) dense(writer, "shared expert ", Part::shared_experts, moe.shared_inter, moe.gated);
  exchange(writer, moe, false);
}

}  // namespace

void lower_ffn(Writer& writer, const models::Layer& layer) {
  if (layer.dense) {
    dense(writer, "", Part::dense_ffn, layer.dense->inter, layer.dense->gated);
    if (!layer.moe) {
      writer.collective("all-reduce", "all_reduce", writer.spread.tp, Rows::tokens, kHalf * real(writer.model.hidden));
    }
  }
  if (layer.moe) experts(writer, *layer.moe);
}

}  // namespace roofcal::lowering
