// SPDX-License-Identifier: Apache-2.0
// Whether the clock of a device goes with ours, so that frames may be sent by it: read before a run
// and while it goes, each time between two looks at our clock. It may count anything, as long as it
// is steady; one that steps, drifts or stands is not sent by any more, and that is said.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct clock_reading {
	int64_t before_ns, after_ns; // by our clock
	uint64_t ticks;		     // of the device's, in between
};

enum device_clock_state {
	DEVICE_CLOCK_UNREAD, // too few readings were narrow enough
	DEVICE_CLOCK_AGREES,
	DEVICE_CLOCK_STANDS,   // or goes back
	DEVICE_CLOCK_UNSTEADY, // before the run it was on no line
	DEVICE_CLOCK_DRIFTS,
	DEVICE_CLOCK_STEPPED
};

struct device_clock {
	enum device_clock_state state;
	int64_t bound_ns;  // it may be off by so much, and a reading may be so wide
	int64_t anchor_ns; // a moment of our clock, and of its
	uint64_t anchor_ticks;
	double ticks_per_ns;
	int64_t off_ns;	   // the most that it was off, or with which it was given up
	double drift_ppm;  // the most, from one reading to the next
	uint32_t readings; // that were narrow enough
};

// Before a run: from readings in a row, some ms from the first to the last. Whether it agrees.
bool device_clock_fit(struct device_clock *ret, const struct clock_reading *readings,
		      uint32_t count, int64_t bound_ns);

// While a run goes: one that is too wide says nothing. Whether it still agrees; once it does not,
// it never does again.
bool device_clock_check(struct device_clock *clock, const struct clock_reading *reading);

// What the device's clock shows at a moment of ours.
uint64_t device_clock_at(const struct device_clock *clock, int64_t ns);

// "agrees within 31 ns, drift at most 0.4 ppm", "stepped by 5000000 ns".
void device_clock_describe(const struct device_clock *clock, char *ret, size_t bytes);

#ifdef __cplusplus
}
#endif
