// SPDX-License-Identifier: Apache-2.0
// Paced time: a clock, divided by the dilation, says when a window of virtual time may be run. It
// only paces: what happens in the world does not depend on it. A driver that comes late runs the
// windows it owes one after the other; how late is measured.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <signal.h>

#include <weft/core/arena.h>
#include <weft/measure/measure.h>
#include <weft/ports/pacing.h>

struct pace {
	struct pace_options options;
	int64_t start_ns;	 // of the clock, at virtual time 0
	int64_t last_ns;	 // when the clock was read last
	int64_t busy_ns;	 // when the last window was let go
	struct hist lateness_ns; // per frame: how long after its window's end it was handed over
	struct hist gap_ns;	 // between two looks at the clock
};

// Draws the histograms. -ENOMEM.
int pace_init(struct pace *pace, struct arena *arena, const struct pace_options *options);

// Virtual time `at` is now: 0, or where a run goes on.
void pace_start(struct pace *pace, ps_t at);

// Waits until the clock has reached virtual time `until`, or `stop` (may be NULL) is set. Makes no
// system call with the clocks of this driver.
void pace_wait(struct pace *pace, ps_t until, const volatile sig_atomic_t *stop);

// `frames` were handed over in the window that ended at `end`: writes down how late that was.
void pace_note(struct pace *pace, ps_t end, uint64_t frames);

// The run has ended.
void pace_end(struct pace *pace);

// When virtual time `at` is due, in nanoseconds after the start.
int64_t pace_due_ns(uint64_t dilation_milli, ps_t at);

// Adds a window to a calibration: it ended at `end`, took `cost_ns` of processor time, and let
// `frames` go.
void pace_calibration_add(struct pace_calibration *calibration, ps_t end, int64_t cost_ns,
			  uint64_t frames);

// The whole calibration took so long by the clock: with others on the machine that is more than the
// processor time.
void pace_calibration_end(struct pace_calibration *calibration, int64_t wall_ns);

// For loops that wait for another thread or for time: says so to the CPU.
static inline void pace_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}
