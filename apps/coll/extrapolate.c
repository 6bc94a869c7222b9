// SPDX-License-Identifier: Apache-2.0
// A size that is too long to be run: its time from those of five shorter ones, or the reason why it
// has none (docs/decisions/0024-a-long-size-is-extrapolated-or-refused.md).
//
// Time over size is a constant and a fill over size: t / S = b + a / S. Congestion moves a time in
// proportion to it, so that all five weigh the same in t / S, and the line through them over 1 / S
// is what least squares give. The error is the half-width of the interval in which the next time
// lies in 95 of 100 cases (Montgomery, Runger: Applied Statistics and Probability for Engineers,
// 11.6), what the longest chain of messages does besides growing in proportion, and 4 % for what
// long runs meet that short ones do not.

#include <errno.h>
#include <math.h>
#include <stdarg.h>

#include "coll.h"

#define PROBES 5
#define STUDENT_95 3.182 // of PROBES - 2 degrees of freedom, both sides
#define ERROR_MODEL 0.04 // what long runs meet that short ones do not, as measured
#define ERROR_MOST 0.1	 // no figure with more is printed

// The shortest probe must outlast what fills a pipeline, and so many round trips in which controls
// settle.
#define ROUND_TRIPS 20.0

// Parts of the longest probe, in eighths.
static const uint32_t eighths[PROBES] = {8, 6, 4, 3, 2};
#define EIGHTHS_ALL 23u

struct probe {
	double bytes, time_us, steps_us;
};

__attribute__((format(printf, 2, 3))) static int give_up(struct measured *ret, const char *format,
							 ...)
{
	va_list list;
	va_start(list, format);
	vsnprintf(ret->why_not, sizeof(ret->why_not), format, list);
	va_end(list);
	return 0;
}

static int ideal_of(struct call *call, uint64_t bytes, struct ideal_time *ret)
{
	int rc = call_scenario(call, bytes, false, call->seed);
	return rc < 0 ? rc : ideal_find(call, ret);
}

// The longest probe, so that all probes together are --packets or less. 0: there is none.
static int longest_probe(struct call *call, const struct measured *of, uint64_t *ret)
{
	double share = 8.0 * (double)call->packets_max / EIGHTHS_ALL;
	double bytes = (double)of->bytes;
	struct ideal_time ideal = of->ideal;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < 8 && (double)ideal.packets > share; i++) {
		bytes *= share / (double)ideal.packets *
			0.98; // messages end in packets that are not full
		rc = ideal_of(call, size_whole(of, call, (uint64_t)bytes), &ideal);
	}
	*ret = (double)ideal.packets > share ? 0 : size_whole(of, call, (uint64_t)bytes);
	return rc;
}

// What the shortest probe alone tells: whether it outlasts what it must.
static int judge_shortest(const struct probe *shortest, struct measured *ret)
{
	double fill_us = (double)ret->ideal.steps_ps / PS_PER_US;
	double trip_us = (double)ret->ideal.base_rtt_ps / PS_PER_US;
	if (shortest->time_us < fill_us)
		return give_up(ret, "its pipeline of %.1f us does not fill in what may be run",
			       fill_us);
	if (shortest->time_us < ROUND_TRIPS * trip_us)
		return give_up(ret, "what may be run takes too few round trips of %.1f us",
			       trip_us);
	return 0;
}

// Runs one of the probes.
static int run_probe(struct call *call, struct measured *ret, struct probe *probe)
{
	struct ideal_time ideal;
	int rc = ideal_of(call, (uint64_t)probe->bytes, &ideal);
	if (rc == 0)
		rc = run_whole(call, (uint64_t)probe->bytes, ret);
	probe->time_us = ret->time_us;
	probe->steps_us = rc < 0 ? 0 : (double)ideal.steps_ps / PS_PER_US;
	return rc;
}

// Runs the probes, whose sizes must differ. The shortest comes first: where it says that no time
// can be given, a twelfth of the packets was run for that.
static int run_probes(struct call *call, uint64_t longest, struct measured *ret,
		      struct probe *probes)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		probes[i].bytes = (double)size_whole(ret, call, longest / 8 * eighths[i]);
		if (i > 0 && probes[i].bytes >= probes[i - 1].bytes)
			return give_up(ret, "so few packets say nothing of it");
	}
	int rc = 0;
	for (uint32_t i = PROBES; rc == 0 && ret->why_not[0] == '\0' && i-- > 0;) {
		rc = run_probe(call, ret, &probes[i]);
		if (rc < 0 || ret->end != RUN_DONE)
			return rc;
		if (i == PROBES - 1)
			rc = judge_shortest(&probes[i], ret);
	}
	return rc;
}

// The line of t / S over 1 / S at 1 / `bytes`, and the half-width around it.
static void fit(const struct probe *probes, double bytes, double *ret_us, double *ret_error_us)
{
	double x_mean = 0, y_mean = 0, xx = 0, xy = 0, rest = 0;
	for (uint32_t i = 0; i < PROBES; i++) {
		x_mean += 1 / probes[i].bytes / PROBES;
		y_mean += probes[i].time_us / probes[i].bytes / PROBES;
	}
	for (uint32_t i = 0; i < PROBES; i++) {
		double x = 1 / probes[i].bytes - x_mean;
		xx += x * x;
		xy += x * (probes[i].time_us / probes[i].bytes - y_mean);
	}
	double slope = xy / xx, at = 1 / bytes - x_mean;
	for (uint32_t i = 0; i < PROBES; i++) {
		double line = y_mean + slope * (1 / probes[i].bytes - x_mean);
		double off = probes[i].time_us / probes[i].bytes - line;
		rest += off * off / (PROBES - 2);
	}
	*ret_us = (y_mean + slope * at) * bytes;
	*ret_error_us = STUDENT_95 * bytes * sqrt(rest * (1 + 1.0 / PROBES + at * at / xx));
}

// What the longest chain of messages is beside the line through the longest and the shortest probe.
static double bend_us(const struct probe *probes, const struct measured *of)
{
	const struct probe *most = &probes[0], *least = &probes[PROBES - 1];
	double slope = (most->steps_us - least->steps_us) / (most->bytes - least->bytes);
	double line = most->steps_us + slope * ((double)of->bytes - most->bytes);
	return fabs(line - (double)of->ideal.steps_ps / PS_PER_US);
}

static int say_fault(const struct call *call, uint32_t fault, struct measured *ret)
{
	return give_up(ret, "a fault (%s) begins or ends in what is left out",
		       scenario_fault_name(call->scenario.faults[fault].kind));
}

// The first fault that begins or ends where a probe knows nothing of it. What changes in the first
// half of the shortest probe all of them have seen, and as much of it as the long size.
static uint32_t fault_beyond(const struct call *call, double shortest_us, double time_us)
{
	return scenario_fault_between(&call->scenario, (ps_t)(shortest_us * PS_PER_US / 2),
				      (ps_t)(time_us * PS_PER_US), (ps_t)(shortest_us * PS_PER_US));
}

static int judge(const struct call *call, const struct probe *probes, struct measured *ret)
{
	double shortest_us = probes[PROBES - 1].time_us, time_us, error_us;
	fit(probes, (double)ret->bytes, &time_us, &error_us);
	error_us += ERROR_MODEL * time_us + bend_us(probes, ret);
	uint32_t fault = fault_beyond(call, shortest_us, time_us + error_us);
	if (fault < call->scenario.fault_count)
		return say_fault(call, fault, ret);
	if (time_us < ideal_us(ret))
		return give_up(ret, "what was run does not grow as it must");
	if (error_us > ERROR_MOST * time_us)
		return give_up(ret, "its error would be %.0f %%", 100 * error_us / time_us);
	ret->time_us = time_us;
	ret->error_us = error_us;
	ret->is_extrapolated = true;
	return 0;
}

int extrapolate(struct call *call, struct measured *ret)
{
	struct choice asked = call->choice;
	struct probe probes[PROBES];
	uint64_t longest;
	// auto may choose otherwise for less
	call->choice = (struct choice){.algorithm = ret->config.algorithm};
	int rc = longest_probe(call, ret, &longest);
	if (rc == 0 && longest == 0)
		rc = give_up(ret, "so few packets say nothing of it");
	else if (rc == 0)
		rc = run_probes(call, longest, ret, probes);
	call->choice = asked;
	if (rc == 0 && ret->end == RUN_DONE && ret->why_not[0] == '\0')
		rc = judge(call, probes, ret);
	return rc;
}

// The same rules for a ring with credits, of whose steps some were run.
int judge_ring(struct call *call, struct measured *ret, int rc)
{
	bool is_long = ret->ideal.packets > call->packets_max;
	if (rc == -EOVERFLOW && is_long) // of sample_apply()
		return give_up(ret, "so few packets do not make a step");
	if (rc < 0 || !ret->is_extrapolated || ret->end != RUN_DONE)
		return rc;
	ret->error_us += ERROR_MODEL * ret->time_us;
	if (ret->fault_left_out > 0)
		return say_fault(call, ret->fault_left_out - 1, ret);
	if (ret->time_us < ideal_us(ret))
		return give_up(ret, "what was run does not grow as it must");
	if (ret->error_us > ERROR_MOST * ret->time_us)
		return give_up(ret, "its error would be %.0f %%",
			       100 * ret->error_us / ret->time_us);
	return 0;
}
