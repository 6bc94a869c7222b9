// SPDX-License-Identifier: Apache-2.0
// Failures of cables as a timeline of faults: days pressed into the milliseconds that a run with
// packets takes. Which link fails is drawn, each as likely as the others.

#include <errno.h>
#include <inttypes.h>

#include <weft/core/rng.h>

#include "goodput.h"

#define DAY_S 86400.0

struct event {
	double at_s, outage_s; // of the run
	uint32_t component, nic, plane;
};

struct timeline {
	uint32_t count, all;
	struct event events[SCENARIO_FAULTS_MAX];
};

static void add(struct timeline *timeline, const struct call *call, uint32_t component, double at_s)
{
	const struct goodput_setup *setup = &call->sides[FABRIC_MRC].setup;
	struct event event = {at_s, setup->failures[component].outage_s, component, 0, 0};
	uint32_t at = timeline->count++;
	struct rng dice = rng_of(setup->seed, RNG_WORKLOAD, at);
	event.nic = rng_below(&dice, call->gpus);
	event.plane = rng_below(&dice, call->planes);
	for (; at > 0 && timeline->events[at - 1].at_s > at_s; at--)
		timeline->events[at] = timeline->events[at - 1];
	timeline->events[at] = event;
}

static void gather(struct timeline *timeline, const struct call *call)
{
	double times_s[SCENARIO_FAULTS_MAX];
	for (uint32_t i = 0; components[i].name != NULL; i++) {
		if (components[i].sign != SIGN_CABLE && components[i].sign != SIGN_FLAP)
			continue;
		uint32_t count = goodput_times(&call->sides[FABRIC_MRC].setup, i, 0, times_s,
					       SCENARIO_FAULTS_MAX);
		timeline->all += count;
		for (uint32_t k = 0; k < count && timeline->count < SCENARIO_FAULTS_MAX; k++)
			add(timeline, call, i, times_s[k]);
	}
}

static int check_timeline(const struct timeline *timeline, struct call *call, double press)
{
	struct refusal *refusal = &call->refusal;
	if (timeline->all > SCENARIO_FAULTS_MAX)
		return refuse(refusal, -EINVAL,
			      "% cables fail in this run, and a scenario has at most % faults: "
			      "fewer --days",
			      timeline->all, SCENARIO_FAULTS_MAX);
	for (uint32_t i = 0; i < timeline->count; i++)
		if (timeline->events[i].outage_s * press < 1e-9)
			return refuse(refusal, -EINVAL,
				      "pressed like this an outage is shorter than 1 ns: more "
				      "--faults, or fewer --days");
	return 0;
}

static void print_event(FILE *to, const struct event *event, double press)
{
	uint64_t from_ns = (uint64_t)(event->at_s * press * 1e9);
	uint64_t length_ns = (uint64_t)(event->outage_s * press * 1e9 + 0.5);
	fprintf(to,
		"  - {kind: link_down, at: {nic: %" PRIu32 ", plane: %" PRIu32 "}, from: %" PRIu64
		"ns, until: %" PRIu64 "ns} # day %.3f: %s, for %.4g h\n",
		event->nic, event->plane, from_ns, from_ns + length_ns, event->at_s / DAY_S,
		components[event->component].name, event->outage_s / 3600);
}

int timeline_print(FILE *to, struct call *call)
{
	static struct timeline timeline;
	double press = call->numbers.faults_s / call->sides[FABRIC_MRC].setup.length_s;
	gather(&timeline, call);
	int rc = check_timeline(&timeline, call, press);
	if (rc < 0)
		return rc;
	fprintf(to,
		"# %s: cables that fail in %g days, seed %" PRIu64
		", pressed into %g ms. Timers of "
		"the transport are not.\n",
		call->scenario.name, call->numbers.days, call->sides[FABRIC_MRC].setup.seed,
		call->numbers.faults_s * 1e3);
	fputs(timeline.count > 0 ? "faults:\n" : "faults: []\n", to);
	for (uint32_t i = 0; i < timeline.count; i++)
		print_event(to, &timeline.events[i], press);
	return 0;
}
