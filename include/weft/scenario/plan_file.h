// SPDX-License-Identifier: Apache-2.0
// A training job as a file: the model, how it is cut, what a step is, what travels, what it takes.
// Keys: docs/job-file.md.
#pragma once

#include <stddef.h>

#include <weft/core/refusal.h>
#include <weft/scenario/scenario_key.h>
#include <weft/workload/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLAN_ORIGIN_BYTES 128

// An element of times.measured.
struct plan_file_time {
	uint32_t part; // enum timed_part
	ps_t forward_ps, backward_ps;
};

struct plan_file {
	struct plan plan; // points into what is below: a copy of this struct has none
	struct architecture architecture;
	char name[64], description[256], model[64], order[32], published[200];
	struct plan_input inputs[PLAN_INPUTS_MAX];
	uint8_t norm;			   // 0: RMS
	uint32_t reduction, sync, reshard; // as the words of the file are counted
	uint32_t every;			   // of local steps
	uint32_t device, recompute, schedule;
	uint64_t domain_bps;
	char origin[PLAN_ORIGIN_BYTES]; // of times that come from a device
};

// Reads YAML text (`bytes` long, named `path` in errors). -EINVAL with file, line, column and
// reason; `ret` is then undefined.
int plan_file_read(struct plan_file *ret, const char *path, const char *text, size_t bytes,
		   struct refusal *refusal);

// The row about that key: it names the key, or else its section; NULL if none does.
const struct plan_input *plan_input_of(const struct plan *plan, const char *key);

#ifdef __cplusplus
}
#endif
