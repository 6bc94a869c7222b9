// SPDX-License-Identifier: Apache-2.0
// The progress bar: time simulated, rate, time left. On a terminal only; nothing is printed into a
// pipe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/engine/engine.h>

struct progress {
	bool is_on;
	double start_s;
	uint64_t packets_expected; // data packets the workload will deliver
	const char *instead;	   // what to type for less, shown where much is left; or NULL
};

// Decides whether there is a bar (stderr is a terminal, and the user did not ask for quiet).
void progress_start(struct progress *progress, const struct world *world, bool is_quiet);

// run_progress_fn.
bool progress_show(void *context, const struct world *world, const struct run *so_far);

// Takes the bar away.
void progress_end(const struct progress *progress);
