// SPDX-License-Identifier: Apache-2.0
// Paced time.

#include <weft/files/clock.h>
#include <weft/ports/pace.h>

#include <errno.h>
#include <time.h>

#define NS_MAX (UINT64_C(1) << 40) // 18 minutes; longer ones count as this long
#define DIGITS 2

static int64_t monotonic_ns(void *context)
{
	(void)context;
	return clock_ns(CLOCK_MONOTONIC); // no system call where the kernel maps it
}

// Processor time of this thread: what a window costs, without what others on the machine took in
// between.
static int64_t processor_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int pace_init(struct pace *pace, struct arena *arena, const struct pace_options *options)
{
	*pace = (struct pace){.options = *options};
	if (pace->options.clock == NULL)
		pace->options.clock = monotonic_ns;
	if (hist_init(&pace->lateness_ns, arena, DIGITS, NS_MAX) < 0 ||
	    hist_init(&pace->gap_ns, arena, DIGITS, NS_MAX) < 0)
		return -ENOMEM;
	return 0;
}

// Looks at the clock, and writes down how long it was out of sight.
static int64_t look(struct pace *pace)
{
	int64_t now = pace->options.clock(pace->options.clock_context);
	hist_add(&pace->gap_ns, now > pace->last_ns ? now - pace->last_ns : 0);
	pace->last_ns = now;
	return now;
}

void pace_start(struct pace *pace, ps_t at)
{
	pace->last_ns = pace->options.clock(pace->options.clock_context);
	pace->start_ns = pace->last_ns - pace_due_ns(pace->options.dilation_milli, at);
	if (pace->options.calibration != NULL)
		pace->busy_ns = processor_ns();
}

void pace_end(struct pace *pace)
{
	if (pace->options.calibration != NULL)
		pace_calibration_end(pace->options.calibration, look(pace) - pace->start_ns);
}

void pace_wait(struct pace *pace, ps_t until, const volatile sig_atomic_t *stop)
{
	int64_t due = pace->start_ns + pace_due_ns(pace->options.dilation_milli, until);
	int64_t now = look(pace);
	while (pace->options.dilation_milli != 0 && now < due && (stop == NULL || *stop == 0)) {
		pace_relax();
		now = look(pace);
	}
	if (pace->options.calibration != NULL)
		pace->busy_ns = processor_ns();
}

void pace_note(struct pace *pace, ps_t end, uint64_t frames)
{
	int64_t now = look(pace);
	int64_t due = pace->start_ns + pace_due_ns(pace->options.dilation_milli, end);
	if (pace->options.dilation_milli != 0)
		hist_add_many(&pace->lateness_ns, now > due ? now - due : 0, frames);
	if (pace->options.calibration != NULL)
		pace_calibration_add(pace->options.calibration, end, processor_ns() - pace->busy_ns,
				     frames);
}
