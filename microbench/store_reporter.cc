#include "microbench/store_reporter.h"

namespace roofcal::microbench {

StoreReporter::StoreReporter(OutcomeSink& sink, bool own_display) : sink_(sink) {
  if (own_display) display_.reset(benchmark::CreateDefaultDisplayReporter());
}

bool StoreReporter::ReportContext(const Context& context) { return !display_ || display_->ReportContext(context); }

void StoreReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type == Run::RT_Iteration) sink_.reported(run.run_name.function_name);
  }
  if (display_) display_->ReportRuns(runs);
}

void StoreReporter::Finalize() {
  if (display_) display_->Finalize();
}

}  // namespace roofcal::microbench
