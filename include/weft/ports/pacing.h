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

struct pace_trial; // what a run without waiting cost, window by window

// How virtual time is tied to a clock. The clock only paces: the result is that of virtual time.
struct pace_options {
	bool is_on;		 // false: virtual time, as fast as it goes
	uint64_t dilation_milli; // wall time per virtual time in thousandths; 0: never wait
	pace_clock_fn *clock;	 // NULL: the system's monotonic clock
	void *clock_context;
	struct pace_trial *trial; // written, or NULL
};

// Room for a trial; NULL when the system refuses. To be given back with pace_trial_free().
struct pace_trial *pace_trial_create(void);
void pace_trial_free(struct pace_trial *trial);

// The smallest dilation, in thousandths and at least 1000, at which 99 of 100 frames of the trial
// would have been less than a millisecond late, and a quarter more for what disturbs a machine.
uint64_t pace_trial_dilation(const struct pace_trial *trial);

#ifdef __cplusplus
}
#endif
