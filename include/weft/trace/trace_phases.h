// SPDX-License-Identifier: Apache-2.0
// What the steps of a rank computed, from the trace of PyTorch's profiler (Kineto): how long its
// GPU ran kernels of the forward, of the backward, of the optimizer. Kernels of NCCL are
// communication, and no part of these.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/core/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRACE_STEPS_MAX 256u

enum trace_phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_COUNT };

// Medians over the steps of one rank.
struct trace_phases {
	uint32_t steps, rank;
	bool has_rank;		    // the file says which rank it is of
	ps_t step_ps;		    // from one step to the next
	ps_t phase_ps[PHASE_COUNT]; // time in which a kernel of the phase ran, or several
	ps_t least_ps, most_ps;	    // of steps
};

// Reads a text of Kineto. A kernel is of the phase in which it was launched: backward inside a call
// of the autograd engine, optimizer inside `Optimizer.step#...`, else forward; and of the step
// (`ProfilerStep#N`) in which it was. -EINVAL with a reason: no JSON, no steps, kernels without
// launches, no backward; -ENOMEM.
int trace_phases(struct trace_phases *ret, const char *text, size_t bytes, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
