// SPDX-License-Identifier: Apache-2.0
// How virtual time is tied to a clock.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Reads a clock: nanoseconds from anywhere, never going back.
typedef int64_t pace_clock_fn(void *context);

struct pace_calibration; // what a run without waiting cost, window by window

// How virtual time is tied to a clock. The clock only paces: the result is that of virtual time.
struct pace_options {
	bool is_on;		 // false: virtual time, as fast as it goes
	uint64_t dilation_milli; // wall time per virtual time in thousandths; 0: never wait
	pace_clock_fn *clock;	 // NULL: the system's monotonic clock
	void *clock_context;
	struct pace_calibration *calibration; // written, or NULL
};

// Memory for a calibration; NULL when the system refuses. To be given back with
// pace_calibration_free().
struct pace_calibration *pace_calibration_create(void);
void pace_calibration_free(struct pace_calibration *calibration);

// The smallest dilation, in thousandths and at least 1000, at which 99 of 100 frames of the
// calibration would have been less than a millisecond late, and a quarter more for what disturbs a
// machine.
uint64_t pace_calibration_dilation(const struct pace_calibration *calibration);

#ifdef __cplusplus
}
#endif
