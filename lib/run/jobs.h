// SPDX-License-Identifier: Apache-2.0
// Runs of a study in processes of their own, several at once: each has its own memory, and what
// stops one stops no other.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/study/report_study.h>

#define JOBS_MAX 64

// Runs number `index` of a study into `ret`. Returns 0, or the exit status that ends the study; the
// reason was said then.
typedef int jobs_work_fn(void *context, uint32_t index, struct study_run *ret);

// Takes what run number `index` came to; of a run that died, `end` says how, and nothing is
// complete.
typedef void jobs_take_fn(void *context, uint32_t index, const struct study_run *run);

// Does the work of runs 0 to `count` - 1, `at_once` (1 to JOBS_MAX) of them at the same time.
// Ends early when call_is_stopped(); what has not begun then is not taken.
// Returns 0, or the first exit status that ended it.
int jobs_run(uint32_t count, uint32_t at_once, jobs_work_fn *work, jobs_take_fn *take,
	     void *context);
