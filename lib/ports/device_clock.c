// SPDX-License-Identifier: Apache-2.0
// See device_clock.h.

#include <weft/ports/device_clock.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define READINGS_LEAST 3
#define DRIFT_PPM_MAX 500.0 // of a quartz that works; what is more is a step

static int64_t middle(const struct clock_reading *reading)
{
	return reading->before_ns + (reading->after_ns - reading->before_ns) / 2;
}

static int64_t half_width(const struct clock_reading *reading)
{
	return (reading->after_ns - reading->before_ns + 1) / 2;
}

static bool is_narrow(const struct clock_reading *reading, int64_t bound_ns)
{
	int64_t width = reading->after_ns - reading->before_ns;
	return width >= 0 && width <= bound_ns;
}

// How far it is from where it should be, in ns.
static int64_t off(const struct device_clock *clock, const struct clock_reading *reading)
{
	double since = (double)(middle(reading) - clock->anchor_ns);
	double ticks = (double)(int64_t)(reading->ticks - clock->anchor_ticks);
	return llround(ticks / clock->ticks_per_ns - since);
}

static void note_off(struct device_clock *clock, int64_t off_ns)
{
	if (llabs(off_ns) > llabs(clock->off_ns))
		clock->off_ns = off_ns;
}

static bool end(struct device_clock *clock, enum device_clock_state state)
{
	clock->state = state;
	return false;
}

static void anchor(struct device_clock *clock, const struct clock_reading *reading)
{
	clock->anchor_ns = middle(reading);
	clock->anchor_ticks = reading->ticks;
}

bool device_clock_fit(struct device_clock *ret, const struct clock_reading *readings,
		      uint32_t count, int64_t bound_ns)
{
	const struct clock_reading *first = NULL, *last = NULL;
	*ret = (struct device_clock){.bound_ns = bound_ns};
	for (uint32_t i = 0; i < count; i++) {
		if (!is_narrow(&readings[i], bound_ns))
			continue;
		first = first == NULL ? &readings[i] : first;
		last = &readings[i];
		ret->readings++;
	}
	if (ret->readings < READINGS_LEAST || middle(last) <= middle(first))
		return end(ret, DEVICE_CLOCK_UNREAD);
	int64_t ticks = (int64_t)(last->ticks - first->ticks);
	if (ticks <= 0)
		return end(ret, DEVICE_CLOCK_STANDS);
	anchor(ret, first);
	ret->ticks_per_ns = (double)ticks / (double)(middle(last) - middle(first));
	for (const struct clock_reading *at = first; at <= last; at++) {
		if (!is_narrow(at, bound_ns))
			continue;
		int64_t off_ns = off(ret, at);
		note_off(ret, off_ns);
		if (llabs(off_ns) > bound_ns + half_width(at))
			return end(ret, DEVICE_CLOCK_UNSTEADY);
	}
	anchor(ret, last);
	ret->state = DEVICE_CLOCK_AGREES;
	return true;
}

// The error of the place grows with time from reading to reading, so each is where it goes on from.
bool device_clock_check(struct device_clock *clock, const struct clock_reading *reading)
{
	if (clock->state != DEVICE_CLOCK_AGREES)
		return false;
	int64_t since = middle(reading) - clock->anchor_ns;
	if (!is_narrow(reading, clock->bound_ns) || since <= 0)
		return true;
	int64_t off_ns = off(clock, reading), sure_ns = llabs(off_ns) - half_width(reading);
	double drift = (double)off_ns * 1e6 / (double)since;
	if (sure_ns > clock->bound_ns) {
		clock->off_ns = off_ns;
		return end(clock,
			   fabs(drift) > DRIFT_PPM_MAX ? DEVICE_CLOCK_STEPPED
						       : DEVICE_CLOCK_DRIFTS);
	}
	note_off(clock, off_ns);
	if (fabs(drift) > fabs(clock->drift_ppm))
		clock->drift_ppm = drift;
	clock->readings++;
	anchor(clock, reading);
	return true;
}

uint64_t device_clock_at(const struct device_clock *clock, int64_t ns)
{
	double since = (double)(ns - clock->anchor_ns) * clock->ticks_per_ns;
	return clock->anchor_ticks + (uint64_t)llround(since);
}

void device_clock_describe(const struct device_clock *clock, char *ret, size_t bytes)
{
	switch (clock->state) {
	case DEVICE_CLOCK_UNREAD:
		snprintf(ret, bytes, "cannot be read within %" PRId64 " ns", clock->bound_ns);
		return;
	case DEVICE_CLOCK_AGREES:
		snprintf(ret, bytes, "agrees within %" PRId64 " ns, drift at most %.1f ppm",
			 (int64_t)llabs(clock->off_ns), fabs(clock->drift_ppm));
		return;
	case DEVICE_CLOCK_STANDS:
		snprintf(ret, bytes, "stands, or goes back");
		return;
	case DEVICE_CLOCK_UNSTEADY:
		snprintf(ret, bytes, "is not steady: off a line by %" PRId64 " ns", clock->off_ns);
		return;
	case DEVICE_CLOCK_DRIFTS:
		snprintf(ret, bytes, "drifts: off by %" PRId64 " ns since it was read last",
			 clock->off_ns);
		return;
	case DEVICE_CLOCK_STEPPED:
		snprintf(ret, bytes, "stepped by %" PRId64 " ns", clock->off_ns);
		return;
	}
}
