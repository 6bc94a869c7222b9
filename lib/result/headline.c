// SPDX-License-Identifier: Apache-2.0
// See headline.h.

#include "headline.h"

#include <stdlib.h>

#include <weft/result/figure_table.h>

#define NOT_ONE_COLLECTIVE "not one collective alone"
#define TOO_FEW "fewer than 100 messages"
#define SEVERAL_CLASSES "not valid in this sample: messages of several kinds of pairs"
#define P99_MESSAGES_MIN 100

// ---------------------------------------------------------------- latency

// Of a sample a class states its error; several of them together do not.
static void of_sample(struct headline_latency *ret, const struct report_input *input)
{
	const struct figure none = {0, ret->count == 0 ? NO_MESSAGES : SEVERAL_CLASSES};
	ret->p50_ns = ret->p99_ns = ret->max_ns = none;
	for (enum pair_class pair = 0; pair < PAIR_CLASS_COUNT; pair++) {
		struct latency one;
		message_latency(&one, input, pair);
		if (one.count == 0 || one.count < ret->count)
			continue;
		ret->p50_ns = one.p50_ns;
		ret->p99_ns = one.p99_ns;
		ret->max_ns = one.max_ns;
	}
}

// Values of two classes have the same cells.
static void of_all(struct headline_latency *ret, const struct report_input *input)
{
	const struct hist *hists = input->world->outcome->message_ns;
	struct latency latency;
	struct hist all = hists[0];
	all.counts = calloc(all.cells, sizeof(*all.counts));
	if (all.counts == NULL)
		return;
	all.total = all.over = all.sum = 0;
	for (enum pair_class pair = 0; pair < PAIR_CLASS_COUNT; pair++)
		hist_merge(&all, &hists[pair]);
	latency_of(&latency, &all, false);
	free(all.counts);
	ret->p50_ns = latency.p50_ns;
	ret->p99_ns = latency.p99_ns;
	ret->max_ns = latency.max_ns;
}

void headline_latency_of(struct headline_latency *ret, const struct report_input *input)
{
	const struct hist *hists = input->world->outcome->message_ns;
	*ret = (struct headline_latency){
		.p50_ns = {0, NO_MESSAGES}, .p99_ns = {0, NO_MESSAGES}, .max_ns = {0, NO_MESSAGES}};
	for (enum pair_class pair = 0; pair < PAIR_CLASS_COUNT; pair++)
		ret->count += hists[pair].total;
	if (is_sampled(input))
		of_sample(ret, input);
	else if (ret->count > 0)
		of_all(ret, input);
	if (ret->p99_ns.reason == NULL && ret->count < P99_MESSAGES_MIN)
		ret->p99_ns = (struct figure){0, TOO_FEW};
}

// ---------------------------------------------------------------- time and bandwidth

static bool is_course_of_all(const struct world *world)
{
	return world->scenario->traffic.kind == TRAFFIC_COLLECTIVE;
}

static ps_t traffic_ps(const struct report_input *input)
{
	struct goodput goodput;
	goodput_of(&goodput, input);
	return goodput.traffic_ps;
}

// Operations that wait for each other, computations among them.
static bool is_program(const struct world *world)
{
	return world->program != NULL && !is_course_of_all(world);
}

ps_t headline_time_ps(const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	if (is_program(input->world))
		return outcome->end_ps;
	if (outcome->collective_count == 1)
		return outcome->collectives[0].whole_ps;
	return traffic_ps(input);
}

double headline_ideal_share(const struct report_input *input)
{
	ps_t time_ps = headline_time_ps(input);
	return time_ps > 0 ? (double)input->ideal.ps / (double)time_ps : 0;
}

static uint64_t collective_bytes(const struct report_input *input)
{
	const struct world *world = input->world;
	if (is_course_of_all(world))
		return world->scenario->traffic.bytes;
	return world->job.buckets[world->outcome->collectives[0].bucket].bytes;
}

double headline_algbw(const struct report_input *input)
{
	const struct world *world = input->world;
	ps_t time_ps = is_program(world) ? world->outcome->collectives[0].whole_ps
					 : headline_time_ps(input);
	return (double)collective_bytes(input) * PS_PER_S / (double)time_ps;
}

double headline_busbw(const struct report_input *input)
{
	const struct world *world = input->world;
	const struct traffic_config *traffic = &world->scenario->traffic;
	if (is_course_of_all(world))
		return headline_algbw(input) *
			coll_bus_factor(traffic->collective, traffic->ring.ranks);
	return (double)world->outcome->collectives[0].busbw_bytes_per_s;
}

double headline_payload_rate_bps(const struct report_input *input)
{
	const struct world *world = input->world;
	const struct transport_config *transport = &world->transport;
	double packet = transport->payload_bytes + transport->header_bytes;
	return (double)world->fabric.link_rate_bps * world->topology.planes *
		transport->payload_bytes / packet;
}

double headline_payload_rate_share(const struct report_input *input)
{
	struct goodput goodput;
	double rate_bps = headline_payload_rate_bps(input);
	goodput_of(&goodput, input);
	return rate_bps > 0 ? goodput.per_nic_bps / rate_bps : 0;
}

// ---------------------------------------------------------------- why there is none

static const char *untimed(const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	struct collective one;
	if (input->is_partial)
		return NOT_FINISHED;
	if (outcome->collective_count == 1) {
		collective_of(&one, input->world, 0);
		return one.reason;
	}
	if (is_sampled(input))
		return NOT_IN_SAMPLE;
	return traffic_ps(input) > 0 ? NULL : "no traffic";
}

static const char *not_alone(const struct report_input *input)
{
	const struct world *world = input->world;
	bool is_one = world->outcome->collective_count == 1 || is_course_of_all(world);
	return is_one && world->jobs.bytes == NULL ? NULL : NOT_ONE_COLLECTIVE;
}

static const char *no_ideal(const struct report_input *input)
{
	const char *reason = input->ideal.reason;
	if (input->ideal.ps > 0)
		return NULL;
	return reason != NULL ? reason : "not worked out here";
}

const char *headline_missing(uint32_t needs, const struct report_input *input)
{
	const uint32_t of_latency = FIGURE_P50 | FIGURE_P99 | FIGURE_MAX;
	const char *reason = NULL;
	if (needs & FIGURE_TIMED)
		reason = untimed(input);
	if (reason == NULL && needs & FIGURE_COLLECTIVE)
		reason = not_alone(input);
	if (reason == NULL && needs & FIGURE_IDEAL)
		reason = no_ideal(input);
	if (reason != NULL || (needs & of_latency) == 0)
		return reason;
	struct headline_latency latency;
	headline_latency_of(&latency, input);
	return needs & FIGURE_P50    ? latency.p50_ns.reason
		: needs & FIGURE_P99 ? latency.p99_ns.reason
				     : latency.max_ns.reason;
}
