// SPDX-License-Identifier: Apache-2.0
// Cases of collectives: bus bandwidth, as nccl-tests has it, against what the fabric carries
// between the ranks.

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <weft/workload/coll.h>

#include "acceptance.h"
#include "words.h"

// Large enough that latencies of its steps are a twentieth of its time.
#define ROUND_TRIPS_PER_STEP 20
#define SPANS_OF_ALL_TO_ALL 4 // all pairs at once: more time than that shows nothing more
#define CHANNELS 4	      // traffic.channels when not given, of hosts of one NIC
#define BUSBW_SHARE 0.9	      // of a NIC's rate: nccl-tests
#define HOST_SHARE 0.85	      // of the NICs that a host's channels leave by

// Ranks of a collective: whole hosts, two at least.
static uint32_t ranks_of(const struct fabric_facts *fabric_facts, uint32_t ranks)
{
	uint32_t least = 2 * fabric_facts->nics_per_host;
	ranks = ranks < least ? least : ranks - ranks % fabric_facts->nics_per_host;
	return ranks < fabric_facts->nics ? ranks : fabric_facts->nics;
}

// NICs of one host talk to each other over its scale-up domain alone.
#define NO_SCALEUP "hosts have several NICs, and no scale-up domain (scaleup.rate) joins these"

static bool is_joined(const struct fabric_facts *fabric_facts)
{
	return fabric_facts->nics_per_host == 1 || fabric_facts->scaleup_bps > 0;
}

// Where there is room, every other host has ranks, so that more of the fabric is crossed.
static bool is_spread(const struct fabric_facts *fabric_facts, uint32_t ranks)
{
	return 2 * ranks <= fabric_facts->nics;
}

static uint32_t nic_of(const struct fabric_facts *fabric_facts, uint32_t ranks, uint32_t rank)
{
	uint32_t host = rank / fabric_facts->nics_per_host;
	return (is_spread(fabric_facts, ranks) ? 2 * host : host) * fabric_facts->nics_per_host +
		rank % fabric_facts->nics_per_host;
}

// Channels when none are given: as many as use every NIC of a host.
#define CHANNELS_MAX 64

// Who sends to whom over the fabric, and how much of a rank's buffer over each pair of them.
struct crossing {
	struct pair *pairs; // the caller's to free
	uint32_t count;
	double part;   // of what passes a rank
	double weight; // of a NIC's rate that each would send
};

static uint32_t channels_of(const struct fabric_facts *fabric_facts)
{
	return fabric_facts->nics_per_host < CHANNELS_MAX ? fabric_facts->nics_per_host
							  : CHANNELS_MAX;
}

// A ring over all NICs, or from host to host by a NIC for each channel, which another one of the
// next host takes.
static int ring_pairs(struct crossing *ret, const struct fabric_facts *fabric_facts, uint32_t ranks)
{
	uint32_t each = fabric_facts->nics_per_host, channels = channels_of(fabric_facts),
		 hosts = ranks / each;
	*ret = (struct crossing){.pairs = calloc(ranks, sizeof(*ret->pairs)), .weight = 1};
	if (ret->pairs == NULL)
		return -ENOMEM;
	if (each == 1) {
		for (uint32_t i = 0; i < ranks; i++)
			ret->pairs[ret->count++] = (struct pair){
				nic_of(fabric_facts, ranks, i),
				nic_of(fabric_facts, ranks, (i + 1) % ranks)};
		ret->part = 1;
		return 0;
	}
	for (uint32_t host = 0; host < hosts; host++)
		for (uint32_t i = 0; i < channels; i++)
			ret->pairs[ret->count++] = (struct pair){
				nic_of(fabric_facts, ranks, host * each + i),
				nic_of(fabric_facts, ranks,
				       (host + 1) % hosts * each + (i + 1) % each)};
	ret->part = 1.0 / channels;
	return 0;
}

static int all_pairs(struct crossing *ret, const struct fabric_facts *fabric_facts, uint32_t ranks)
{
	uint32_t host = fabric_facts->nics_per_host;
	*ret = (struct crossing){.pairs = calloc((size_t)ranks * ranks, sizeof(*ret->pairs)),
				 .part = 1.0 / (ranks - 1),
				 .weight = 1.0 / (ranks - 1)};
	for (uint32_t i = 0; ret->pairs != NULL && i < ranks * ranks; i++)
		if (i / ranks / host != i % ranks / host)
			ret->pairs[ret->count++] = (struct pair){
				nic_of(fabric_facts, ranks, i / ranks),
				nic_of(fabric_facts, ranks, i % ranks)};
	return ret->pairs == NULL ? -ENOMEM : 0;
}

// What a collective's pairs have, of what they would send; its cost once `bus_bytes` of it pass a
// rank's NIC.
static const char *cross(double *ret_share, const struct fabric_facts *fabric_facts,
			 struct crossing *crossing, struct case_text *to)
{
	struct carried carried;
	const char *reason = words_carry(&carried, to, fabric_facts, crossing->pairs,
					 crossing->count, crossing->weight);
	*ret_share = carried.share / crossing->weight;
	return reason;
}

// What passes a rank goes in so many messages over each of its pairs.
static void collective_cost(const struct fabric_facts *fabric_facts,
			    const struct crossing *crossing, double messages, struct case_text *to)
{
	for (uint32_t i = 0; i < crossing->count; i++)
		cost_add(&to->cost, fabric_facts,
			 &(struct messages){
				 1, messages, to->bus_bytes * crossing->part / messages,
				 topology_links(fabric_facts->topology, fabric_facts->fabric,
						crossing->pairs[i].from, crossing->pairs[i].to)});
	to->cost.senders += crossing->count;
}

// Messages of a ring over one of its pairs: one of each channel in each step.
static double ring_messages(const struct fabric_facts *fabric_facts, uint32_t steps)
{
	return fabric_facts->nics_per_host > 1 ? steps : (double)steps * CHANNELS;
}

static void collective(const struct fabric_facts *fabric_facts, const char *kind,
		       const char *algorithm, uint32_t ranks, uint64_t bytes, struct case_text *to)
{
	to->asked = (struct asked){.kind = kind, .algorithm = algorithm, .bytes = bytes};
	const char *placement = is_spread(fabric_facts, ranks) ? "spread" : "packed";
	fprintf(to->fabric_file,
		"traffic: {kind: jobs}\njobs: [{name: one, kind: collective, collective: %s, "
		"algorithm: %s, ranks: %u, placement: %s, bytes: %lluB}]\n",
		kind, algorithm, ranks, placement, (unsigned long long)bytes);
}

// A multiple of a packet for each rank, at least one.
static uint64_t in_packets(const struct fabric_facts *fabric_facts, uint32_t ranks, double bytes)
{
	uint64_t grain = fabric_facts->payload_bytes * ranks;
	return bytes < (double)grain ? grain : (uint64_t)bytes - (uint64_t)bytes % grain;
}

// What bus bandwidth is held to.
struct busbw {
	double bps;
	const char *name, *source;
};

static ps_t time_of(const struct fabric_facts *fabric_facts, uint32_t steps)
{
	return (ps_t)steps * ROUND_TRIPS_PER_STEP * fabric_facts->base_rtt_ps;
}

static struct busbw of_nic(const struct fabric_facts *fabric_facts, double share)
{
	return (struct busbw){
		.bps = BUSBW_SHARE * share * fabric_facts->nic_rate_bps,
		.name = "time of 90 % bus bandwidth",
		.source = "nccl-tests: an error below 0.9 of what is expected",
	};
}

// A ring leaves a host of several NICs by one of them in each channel; inside it goes as fast as
// the scale-up domain does.
static struct busbw of_ring(const struct fabric_facts *fabric_facts, double share)
{
	double rate_bps = channels_of(fabric_facts) * share * fabric_facts->nic_rate_bps;
	if (fabric_facts->nics_per_host == 1)
		return of_nic(fabric_facts, share);
	return (struct busbw){
		.bps = HOST_SHARE * fmin(fabric_facts->scaleup_bps, rate_bps),
		.name = "time of 85 % bus bandwidth",
		.source = "sign-off practice: an all-reduce within 15 % of what is expected, here "
			  "of the NICs that a host's channels leave by",
	};
}

static void say_timeouts(FILE *to)
{
	words_check(to, "no repair by timeout", "congestion.retransmitted_by.timeout", "is 0",
		    "a timeout stands in every tail");
}

// `share` of the buffer passes each rank in about `time_ps` at `carried` of a NIC's rate: bus
// bandwidth as nccl-tests has it.
struct large {
	const char *kind, *algorithm;
	uint32_t ranks;
	ps_t time_ps;
	double share, carried;
	struct busbw least;
};

static void ask_large(const struct fabric_facts *fabric_facts, const struct large *large,
		      struct case_text *to)
{
	char bound[64];
	double bytes = (double)bytes_in(fabric_facts, large->time_ps, large->carried) /
		large->share;
	uint64_t whole = in_packets(fabric_facts, large->ranks, bytes);
	to->bus_bytes = (double)whole * large->share;
	collective(fabric_facts, large->kind, large->algorithm, large->ranks, whole, to);
	snprintf(bound, sizeof(bound), "at most %.3f us", 8e6 * to->bus_bytes / large->least.bps);
	words_check(to->checks, large->least.name, "jobs.time_ps", bound, large->least.source);
	say_timeouts(to->checks);
}

// The pairs of a ring, and what they have.
static const char *cross_ring(struct crossing *ret, double *ret_share,
			      const struct fabric_facts *fabric_facts, uint32_t ranks,
			      struct case_text *to)
{
	*ret = (struct crossing){0};
	if (!is_joined(fabric_facts))
		return NO_SCALEUP;
	if (ring_pairs(ret, fabric_facts, ranks) < 0)
		return "not enough memory";
	return cross(ret_share, fabric_facts, ret, to);
}

static const char *ring(const struct fabric_facts *fabric_facts, enum coll_kind kind,
			uint32_t ranks, struct case_text *to)
{
	uint32_t steps = (kind == COLL_ALL_REDUCE ? 2 : 1) * (ranks - 1);
	struct crossing crossing;
	double share;
	const char *reason = cross_ring(&crossing, &share, fabric_facts, ranks, to);
	if (reason == NULL) {
		ask_large(fabric_facts,
			  &(struct large){coll_kind_name(kind), "ring", ranks,
					  time_of(fabric_facts, steps), (double)steps / ranks,
					  share, of_ring(fabric_facts, share)},
			  to);
		collective_cost(fabric_facts, &crossing, ring_messages(fabric_facts, steps), to);
	}
	free(crossing.pairs);
	return reason;
}

const char *ask_collective(const struct acceptance_case *of,
			   const struct fabric_facts *fabric_facts, struct case_text *to)
{
	return ring(fabric_facts, (enum coll_kind)of->number, ranks_of(fabric_facts, 8), to);
}

const char *ask_scale(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		      struct case_text *to)
{
	if (of->number > fabric_facts->nics)
		return "the fabric has too few NICs";
	if (of->number < 2 * fabric_facts->nics_per_host)
		return "two hosts have more NICs than that";
	return ring(fabric_facts, COLL_ALL_GATHER, ranks_of(fabric_facts, of->number), to);
}

const char *ask_all_to_all(const struct acceptance_case *of,
			   const struct fabric_facts *fabric_facts, struct case_text *to)
{
	(void)of;
	uint32_t ranks = ranks_of(fabric_facts, 8);
	struct crossing crossing;
	double share;
	if (!is_joined(fabric_facts))
		return NO_SCALEUP;
	if (all_pairs(&crossing, fabric_facts, ranks) < 0)
		return "not enough memory";
	const char *reason = cross(&share, fabric_facts, &crossing, to);
	if (reason == NULL) {
		struct carried carried = {.share = share,
					  .links = fabric_facts->topology->links_max};
		ps_t most_ps = SPANS_OF_ALL_TO_ALL * span_of(fabric_facts, ranks, &carried);
		ps_t time_ps = time_of(fabric_facts, ranks);
		ask_large(fabric_facts,
			  &(struct large){"all_to_all", "direct", ranks,
					  time_ps < most_ps ? time_ps : most_ps,
					  (double)(ranks - 1) / ranks, share,
					  of_nic(fabric_facts, share)},
			  to);
		collective_cost(fabric_facts, &crossing, 1, to);
	}
	free(crossing.pairs);
	return reason;
}

// An all-reduce of so many bytes in a ring, and what its pairs have.
static const char *all_reduce(const struct fabric_facts *fabric_facts, uint64_t bytes,
			      double *ret_share, struct case_text *to)
{
	uint32_t ranks = ranks_of(fabric_facts, 8);
	struct crossing crossing;
	const char *reason = cross_ring(&crossing, ret_share, fabric_facts, ranks, to);
	if (reason == NULL) {
		to->bus_bytes = (double)bytes * 2 * (ranks - 1) / ranks;
		collective(fabric_facts, "all_reduce", "ring", ranks, bytes, to);
		collective_cost(fabric_facts, &crossing,
				ring_messages(fabric_facts, 2 * (ranks - 1)), to);
	}
	free(crossing.pairs);
	return reason;
}

// The draft's sizes: their bus bandwidth where its steps took no more than their latency.
const char *ask_size(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		     struct case_text *to)
{
	uint32_t ranks = ranks_of(fabric_facts, 8), steps = 2 * (ranks - 1);
	double latency_us = steps * (double)fabric_facts->base_rtt_ps / (double)PS_PER_US, share;
	char bound[64];
	const char *reason = all_reduce(
		fabric_facts, in_packets(fabric_facts, ranks, of->number * 1e6), &share, to);
	if (reason != NULL)
		return reason;
	snprintf(bound, sizeof(bound), "at most %.3f us",
		 latency_us + 8e6 * to->bus_bytes / of_ring(fabric_facts, share).bps);
	words_check(
		to->checks, "time of its steps and bytes", "jobs.time_ps", bound,
		"a round trip for each step, and 90 % of the NIC's rate (85 % of a host's NICs)");
	say_timeouts(to->checks);
	return NULL;
}

// Each step waits for a message of one packet from another rank.
const char *ask_small_collective(const struct acceptance_case *of,
				 const struct fabric_facts *fabric_facts, struct case_text *to)
{
	(void)of;
	uint32_t ranks = ranks_of(fabric_facts, 8), steps = 2 * (ranks - 1);
	double share;
	char bound[64];
	const char *reason = all_reduce(fabric_facts, fabric_facts->payload_bytes * ranks, &share,
					to);
	if (reason != NULL)
		return reason;
	to->bus_bytes = 0; // its latency is asked
	snprintf(bound, sizeof(bound), "at most %u %% of network.base_rtt_ps", steps * 100);
	words_check(to->checks, "time of its steps", "jobs.time_ps", bound,
		    "a step is one way of a packet, and less than a round trip");
	words_check(to->checks, "nothing retransmitted", "congestion.retransmitted", "is 0",
		    "a packet at a time");
	return NULL;
}
