// SPDX-License-Identifier: Apache-2.0
// Computations of a run with generators on one time line: when they were on the device, as the
// hosts saw it, and with the scenario's times alone.
#pragma once

#include <weft/core/time.h>
#include <weft/result/report_gpu.h>

struct call;

struct gpu_seen { // of a computation; PS_NEVER: not seen
	ps_t begun, ended;
};

struct gpu_reported { // of a computation, by the system's clock; -1: not reported
	int64_t asked_ns, done_ns;
};

// Room for all of them. -ENOMEM.
int gpu_spans_draw(struct call *call);

// Behind the run with the scenario's own times, whose world is still there.
void gpu_spans_model(struct call *call);

// Behind the run: all spans, for the report.
void gpu_spans_finish(struct call *call);
void gpu_spans_free(struct call *call);
