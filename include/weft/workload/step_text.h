// SPDX-License-Identifier: Apache-2.0
// The schedule of a step (step.h) as lines of SimAI's text (workload.h): a line has a forward, an
// input gradient and a weight gradient, each with a computation and a communication behind it.
// Forwards go down the lines, then the gradients up; what a weight gradient sends is waited for by
// nobody but the line's update.
#pragma once

#include <weft/workload/order.h>
#include <weft/workload/step.h>
#include <weft/workload/trace_simai.h>

#ifdef __cplusplus
extern "C" {
#endif

enum step_column { STEP_COLUMN_FORWARD, STEP_COLUMN_INPUT, STEP_COLUMN_WEIGHT, STEP_COLUMN_COUNT };

struct step_send {
	enum trace_comm comm;
	enum trace_group group;
	uint64_t bytes;
	ps_t time_ps; // in closed form
};

struct step_line {
	const char *name;
	uint32_t position; // of all forwards of the stage
	ps_t compute_ps[STEP_COLUMN_COUNT], update_ps;
	struct step_send sends[STEP_COLUMN_COUNT];
};

struct step_text {
	uint32_t tp, ep, pp, vpp, micro_batches, ranks; // of line 1
	uint32_t stage;		// whose lines these are: the one that ends last
	ps_t step_ps, lines_ps; // the step, and what the lines come to, in closed form
	uint32_t line_count;
	struct step_line *lines;
};

// Bytes that step_text() draws, from above.
uint64_t step_text_bytes(const struct plan *plan);

// Draws the lines, which come to `longer_ps` more than the step does (where that is not 0: or as
// near as they can). Time in which the stage waits for others is a line of its own. -EINVAL with a
// reason: ranks that SimAI numbers otherwise, messages that its text has no word for, ranks that
// differ, or lines that come to another time than the step; -ENOMEM.
int step_text(struct step_text *ret, struct arena *arena, const struct plan *plan,
	      const struct step_setup *setup, const struct order *order,
	      const struct gpu_layout *gpu_layout, ps_t longer_ps, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
