// SPDX-License-Identifier: Apache-2.0
// Times of a job that are fitted to logs.
#pragma once

#include <weft/workload/plan.h>

#include "mllog.h"

// One log, and what the fitted times say of its step.
struct fit_log {
	const struct log_file *file;
	struct plan plan; // the job with the log's replicas and micro-batches
	double step_s;	  // as fitted
};

struct fit {
	const struct plan *job;
	struct fit_log logs[FILES_MAX];
	uint32_t count;
	bool has_forward; // from forward-only steps of the logs; else half of the backward
	bool has_other;	  // from logs of different numbers of micro-batches; else the job's
	struct timing timing;
};
