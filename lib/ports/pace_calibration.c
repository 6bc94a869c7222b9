// SPDX-License-Identifier: Apache-2.0
// What a run without waiting cost, and the smallest dilation that follows from it. Windows are
// added up in slices of virtual time whose length doubles when they run out.

#include <stdlib.h>

#include <weft/ports/pace.h>

#define SLICES 4096u
#define SLICE_PS PS_PER_US	 // length of a slice at first
#define LATE_NS INT64_C(1000000) // a frame that is later than this ...
#define LATE_SHARE 100		 // ... may be one of so many
#define MARGIN_PERCENT 125	 // for what the calibration did not see
#define DUE_MAX (INT64_MAX / 2)	 // 146 years: it can still be added to a clock
#define DILATION_MAX (UINT64_C(1) << 40)

struct slice {
	int64_t cost_ns;
	uint64_t frames;
};

struct pace_calibration {
	ps_t slice_ps;
	uint32_t used;	 // up to the last one with frames
	int64_t cost_ns; // of all windows
	int64_t wall_ns; // of the run
	struct slice slices[SLICES];
};

struct pace_calibration *pace_calibration_create(void)
{
	struct pace_calibration *calibration = calloc(1, sizeof(*calibration));
	if (calibration != NULL)
		calibration->slice_ps = SLICE_PS;
	return calibration;
}

void pace_calibration_free(struct pace_calibration *calibration)
{
	free(calibration);
}

// Two slices become one.
static void fold(struct pace_calibration *calibration)
{
	for (uint32_t i = 0; i < SLICES / 2; i++) {
		const struct slice *a = &calibration->slices[2 * i], *b = a + 1;
		calibration->slices[i] = (struct slice){a->cost_ns + b->cost_ns,
							a->frames + b->frames};
	}
	for (uint32_t i = SLICES / 2; i < SLICES; i++)
		calibration->slices[i] = (struct slice){0};
	calibration->slice_ps *= 2;
	calibration->used = (calibration->used + 1) / 2;
}

void pace_calibration_add(struct pace_calibration *calibration, ps_t end, int64_t cost_ns,
			  uint64_t frames)
{
	while (end / calibration->slice_ps >= SLICES)
		fold(calibration);
	uint32_t index = (uint32_t)(end / calibration->slice_ps);
	struct slice *slice = &calibration->slices[index];
	slice->cost_ns += cost_ns > 0 ? cost_ns : 0;
	calibration->cost_ns += cost_ns > 0 ? cost_ns : 0;
	slice->frames += frames;
	if (index >= calibration->used)
		calibration->used = index + 1;
}

void pace_calibration_end(struct pace_calibration *calibration, int64_t wall_ns)
{
	calibration->wall_ns = wall_ns;
}

int64_t pace_due_ns(uint64_t dilation_milli, ps_t at)
{
	__int128 due = (__int128)at * (int64_t)dilation_milli / (PS_PER_NS * 1000);
	return due < DUE_MAX ? (int64_t)due : DUE_MAX;
}

// Whether few enough frames would have been late: each slice starts when it is due or when the one
// before it is done.
static bool holds(const struct pace_calibration *calibration, uint64_t dilation_milli)
{
	uint64_t late = 0, all = 0;
	int64_t done_ns = 0;
	for (uint32_t i = 0; i < calibration->used; i++) {
		int64_t due_ns = pace_due_ns(dilation_milli, (ps_t)i * calibration->slice_ps);
		int64_t end_ns = pace_due_ns(dilation_milli, (ps_t)(i + 1) * calibration->slice_ps);
		done_ns = (done_ns > due_ns ? done_ns : due_ns) + calibration->slices[i].cost_ns;
		all += calibration->slices[i].frames;
		if (done_ns > end_ns + LATE_NS)
			late += calibration->slices[i].frames;
	}
	return late * LATE_SHARE <= all;
}

uint64_t pace_calibration_dilation(const struct pace_calibration *calibration)
{
	uint64_t low = 1000, high = 1000;
	while (!holds(calibration, high) && high < DILATION_MAX)
		high *= 2;
	while (high > low && high - low > low / 1000) {
		uint64_t middle = low + (high - low) / 2;
		if (holds(calibration, middle))
			high = middle;
		else
			low = middle + 1;
	}
	if (high == 1000)
		return high;
	if (calibration->wall_ns > calibration->cost_ns) // the machine is shared
		high = (uint64_t)((unsigned __int128)high * (uint64_t)calibration->wall_ns /
				  (uint64_t)calibration->cost_ns);
	return high * MARGIN_PERCENT / 100;
}
