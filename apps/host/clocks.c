// SPDX-License-Identifier: Apache-2.0
// How the clocks of the hosts stand to each other, before traffic and behind it.

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include <weft/files/clock.h>

#include "host.h"

static clockid_t clock_id = CLOCK_MONOTONIC_RAW;

void clocks_use_system(void)
{
	clock_id = CLOCK_MONOTONIC;
}

int64_t clocks_now_ns(void *context)
{
	(void)context;
	return clock_ns(clock_id);
}

#define LEAD_NS INT64_C(20000000) // until all have heard of it
#define LEAD_EACH_NS 100000

int clocks_before(struct call *call)
{
	struct host_clock *own = &call->clocks.of[call->index];
	call->clocks.is_whole = false;
	int rc = meeting_clock(&call->meeting, clocks_now_ns, NULL, &own->before, &call->refusal);
	call->clocks.is_read = rc == 0;
	return rc;
}

int clocks_agree(struct call *call, int64_t *ret_ns)
{
	struct host_clock *own = &call->clocks.of[call->index];
	int64_t lead_ns = LEAD_NS + call->meeting.options.count * LEAD_EACH_NS;
	int rc = call->clocks.is_read
		? meeting_moment(&call->meeting, clocks_now_ns(NULL), lead_ns, &own->before,
				 &own->agreed_ns, &call->refusal)
		: 0;
	*ret_ns = own->agreed_ns;
	return rc;
}

void clocks_after(struct call *call, const struct host_run *host_run)
{
	struct refusal none;
	struct host_clock mine = call->clocks.of[call->index];
	mine.start_ns = wall_counts(host_run->wall)->start_ns;
	int rc = meeting_clock(&call->meeting, clocks_now_ns, NULL, &mine.after, &none);
	if (rc == 0)
		rc = meeting_share(&call->meeting, &mine, call->clocks.of, sizeof(mine), &none);
	call->clocks.is_whole = rc == 0;
}

int64_t clocks_shift_ns(const struct call *call, uint32_t host)
{
	const struct host_clock *of = call->clocks.of;
	return call->clocks.is_whole
		? of[host].start_ns + of[host].before.offset_ns - of[0].start_ns
		: 0;
}

// How far host 0's clock went from a host's between the two readings, and what that may be off by.
struct drift {
	int64_t moved_ns, error_ns, over_ns;
};

static struct drift drift_of(const struct host_clock *clock)
{
	return (struct drift){clock->after.offset_ns - clock->before.offset_ns,
			      clock->after.error_ns + clock->before.error_ns,
			      clock->after.at_ns - clock->before.at_ns};
}

static double ppm(int64_t ns, const struct drift *drift)
{
	return drift->over_ns > 0 ? (double)ns * 1e6 / (double)drift->over_ns : 0;
}

// ---------------------------------------------------------------- printed

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

static int64_t late_of(const struct host_clock *clock)
{
	return clock->start_ns - clock->agreed_ns;
}

// Of all hosts, the worst of each.
static void print_all(FILE *to, const struct call *call)
{
	uint32_t hosts = call->meeting.options.count, worst = 1;
	int64_t error_ns = 0, first_ns = 0, last_ns = 0, late_ns = late_of(&call->clocks.of[0]);
	for (uint32_t i = 1; i < hosts; i++) {
		int64_t shift_ns = clocks_shift_ns(call, i);
		const struct host_clock *clock = &call->clocks.of[i];
		if (llabs(drift_of(clock).moved_ns) >
		    llabs(drift_of(&call->clocks.of[worst]).moved_ns))
			worst = i;
		error_ns = clock->before.error_ns > error_ns ? clock->before.error_ns : error_ns;
		first_ns = shift_ns < first_ns ? shift_ns : first_ns;
		last_ns = shift_ns > last_ns ? shift_ns : last_ns;
		late_ns = late_of(clock) > late_ns ? late_of(clock) : late_ns;
	}
	struct drift drift = drift_of(&call->clocks.of[worst]);
	fprintf(to,
		"clocks, against host 0's: known to +- %.1f us; in %.3f s moved by %.1f +- %.1f us "
		"at "
		"most (%.2f +- %.2f ppm, host %u); hosts began within %.1f us, "
		"the last one %.1f us behind the moment agreed on\n",
		us(error_ns), (double)drift.over_ns / 1e9, us(llabs(drift.moved_ns)),
		us(drift.error_ns), fabs(ppm(drift.moved_ns, &drift)), ppm(drift.error_ns, &drift),
		worst, us(last_ns - first_ns), us(late_ns));
}

void clocks_print(FILE *to, const struct call *call)
{
	const struct host_clock *own = &call->clocks.of[call->index];
	if (call->clocks.is_whole)
		print_all(to, call);
	else if (call->index != 0)
		fprintf(to,
			"clock, against host 0's: known to +- %.1f us before traffic, and not read "
			"behind it\n",
			us(own->before.error_ns));
	else
		fprintf(to, "clocks of the others were not read behind the run\n");
}

json_t *clocks_json(const struct call *call)
{
	json_t *list = json_array();
	if (!call->clocks.is_whole) {
		json_decref(list);
		return json_null();
	}
	for (uint32_t i = 0; i < call->meeting.options.count; i++) {
		const struct host_clock *clock = &call->clocks.of[i];
		struct drift drift = drift_of(clock);
		json_array_append_new(list,
				      json_pack("{s:I,s:I,s:I,s:I,s:I,s:f,s:f,s:I,s:I}",
						"offset_ns", (json_int_t)clock->before.offset_ns,
						"error_ns", (json_int_t)clock->before.error_ns,
						"moved_ns", (json_int_t)drift.moved_ns,
						"moved_error_ns", (json_int_t)drift.error_ns,
						"over_ns", (json_int_t)drift.over_ns, "drift_ppm",
						ppm(drift.moved_ns, &drift), "drift_error_ppm",
						ppm(drift.error_ns, &drift), "began_ns",
						(json_int_t)clocks_shift_ns(call, i), "late_ns",
						(json_int_t)late_of(clock)));
	}
	return list;
}
