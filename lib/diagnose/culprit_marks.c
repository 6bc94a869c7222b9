// SPDX-License-Identifier: Apache-2.0
// See culprit.h.

#include "culprit.h"

#include <math.h>

#define MARKS_SIGMAS 4.5   // of the dice, before marks are too few or too many
#define MARKS_OFF_LEAST 10 // and so many packets

// Marks of all ports of a switch.
struct switch_marks {
	double marked, due; // packets
	uint32_t marked_min, clear_max;
};

static void sum_marks(struct switch_marks *ret, const struct world *world, uint32_t index)
{
	*ret = (struct switch_marks){.marked_min = UINT32_MAX};
	for (uint32_t port = 0; port < world->topology.switches[index].port_count; port++) {
		const struct queue_watch *watch = switch_port_watch(world->switches[index], port);
		ret->marked += (double)watch->marked;
		ret->due += (double)watch->due / DUE_MARK_ONE;
		if (watch->marked_min_bytes < ret->marked_min)
			ret->marked_min = watch->marked_min_bytes;
		if (watch->clear_max_bytes > ret->clear_max)
			ret->clear_max = watch->clear_max_bytes;
	}
}

// A switch marks above its low threshold only, everything above its high one, and in between as
// many as are due, but for the dice: each throw has a variance of a quarter and of its chance at
// most.
static bool marks_wrongly(const struct switch_marks *of, const struct topology *topology,
			  struct culprit *ret)
{
	double off = of->marked - of->due, sigmas = MARKS_SIGMAS * sqrt(of->due);
	ret->measured = of->marked;
	ret->expected = of->due;
	if (of->marked_min <= topology->ecn_low_bytes) {
		ret->marks = MARKS_EARLY;
		ret->measured = of->marked_min;
		ret->expected = (double)topology->ecn_low_bytes;
	} else if (of->clear_max > topology->ecn_high_bytes) {
		ret->marks = MARKS_LATE;
		ret->measured = of->clear_max;
		ret->expected = (double)topology->ecn_high_bytes;
	} else {
		ret->marks = off < 0 ? MARKS_FEW : MARKS_MANY;
		return fabs(off) > sigmas && fabs(off) > MARKS_OFF_LEAST;
	}
	return true;
}

// Whether one that never marks would be known by that.
static bool is_judged(const struct switch_marks *of)
{
	return of->due > MARKS_SIGMAS * sqrt(of->due) && of->due > MARKS_OFF_LEAST;
}

static void find(struct culprits *culprits, const struct world *world)
{
	for (uint32_t i = 0; i < world->topology.switch_count; i++) {
		struct switch_marks marks;
		struct culprit found = {
			.finding = CULPRIT_ECN, .place = CULPRIT_SWITCH, .index = i};
		sum_marks(&marks, world, i);
		culprits->switches++;
		culprits->switches_judged += is_judged(&marks);
		if (!marks_wrongly(&marks, &world->topology, &found))
			continue;
		struct culprit *culprit = culprit_add(culprits, CULPRIT_ECN);
		if (culprit != NULL)
			*culprit = found;
	}
}

void culprit_find_ecn(struct culprits *culprits, const struct world *world)
{
	uint32_t before = culprits->count;
	if (!world->fabric.ecn_on) {
		culprits->reason[CULPRIT_ECN] = "switches do not mark";
		return;
	}
	if (world->fabric.slow_scaled) {
		culprits->reason[CULPRIT_ECN] = "slow lines mark elsewhere (queue.slow)";
		return;
	}
	find(culprits, world);
	if (culprits->switches_judged == 0 && culprits->count == before)
		culprits->reason[CULPRIT_ECN] =
			"cannot be judged at this load: hardly a mark was due";
}
