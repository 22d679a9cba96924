// Every verb's registration. A verb is a file: its options, its action, its report.
#pragma once

#include "cli/options.h"

namespace roofcal::cli {

void add_import(const Registry& registry);
void add_calibrate(const Registry& registry);
void add_validate(const Registry& registry);
/// `predict`: a verb a family of operators, and `predict rows`.
void add_predict(const Registry& registry);
void add_predict_rows(const Registry& predict);
void add_predict_model(const Registry& predict);
void add_gpu(const Registry& registry);
void add_gpu_what_if(const Registry& gpu);
void add_plan(const Registry& registry);
void add_db(const Registry& registry);
void add_db_diff(const Registry& db);
void add_doctor(const Registry& registry);
/// Verbs of the contract that a later step brings: they say so and exit 2.
void add_later_verbs(const Registry& registry);
void add_later_predictions(const Registry& predict);

}  // namespace roofcal::cli
