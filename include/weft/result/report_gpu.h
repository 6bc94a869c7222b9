// SPDX-License-Identifier: Apache-2.0
// A run whose gradients came from generators (weft gpu).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/time.h>

// Who says when a computation was: the generator, the run that waited for it, and the run with the
// scenario's times alone.
enum report_gpu_view { REPORT_GPU_DEVICE, REPORT_GPU_HOST, REPORT_GPU_MODEL, REPORT_GPU_VIEWS };

// One computation, in the fabric's time: those of a rank in a row, its sums apart.
struct report_gpu_span {
	enum report_gpu_view view;
	uint32_t rank, step, bucket, slice;
	const char *work;
	bool is_sum;
	ps_t from_ps;  // the one before has ended
	ps_t begun_ps; // nothing held it up any more
	ps_t until_ps;
};

// Times that were measured here are in nanoseconds of the system's clock; those of the fabric in
// its own. Of several ranks it is the worst.
struct report_gpu {
	const char *device; // of rank 0, as its generator says
	uint32_t ranks;	    // all of the job's: none is played back
	uint64_t releases, elements, wrong;
	int64_t late_p50_ns, late_p99_ns, late_max_ns; // releases after they were due
	ps_t heard_p50_ps, heard_p99_ps, heard_max_ps; // sends after they were released
	int64_t clock_error_ns;			       // the device's clock against the system's
	int64_t clock_offset_ns;		       // of rank 0: that less this
	int64_t clock_zero_ns;			       // the system's clock at the fabric's 0
	ps_t barrier_ps;			       // stood before steps, for other ranks
	ps_t exposed_device_ps;	     // communication that a rank's computations waited for: there
	ps_t exposed_host_ps;	     // as the hosts saw it
	ps_t exposed_model_ps;	     // with computations of the scenario's times
	double fill_bps, reduce_bps; // bits per second at work
	const struct report_gpu_span *spans; // [span_count] by view, rank, and time
	uint32_t span_count;
	bool is_whole; // all generators finished and reported their figures
};
