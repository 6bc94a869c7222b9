// SPDX-License-Identifier: Apache-2.0
// Cases of load: what a fabric carries when nothing is broken. Shares that goodput is held to are
// those of lines: payload over all of a packet (formula one_way), times what lies above a T0.

#include <string.h>

#include <weft/coll.h>
#include <weft/rng.h>

#include "book.h"
#include "words.h"

const char *ask_one_packet(const struct book_case *of, const struct facts *facts,
			   struct case_text *to)
{
	(void)of;
	fprintf(to->scene, "traffic: {kind: flows, flows: [{from: 0, to: %u, bytes: %lluB}]}\n",
		facts->far, (unsigned long long)facts->payload_bytes);
	words_check(to->checks, "completion", "flows.max_ns",
		    "at most 102 % of network.base_rtt_ps",
		    "a packet out and its answer back, nothing before it");
	words_check(to->checks, "nothing sent again", "congestion.retransmitted", "is 0",
		    "an idle fabric");
	return NULL;
}

static void pair(const struct facts *facts, uint32_t ahead, struct case_text *to)
{
	ps_t span_ps = span_of(facts, 1);
	words_flows(to->scene, 1, ahead, bytes_in(facts, span_ps, 1));
	words_steady(to->scene, facts, span_ps, 0.97);
}

const char *ask_pair_near(const struct book_case *of, const struct facts *facts,
			  struct case_text *to)
{
	(void)of;
	if (facts->nics_per_t0 < 2)
		return "no T0 of this fabric is known to have two NICs";
	pair(facts, 1, to);
	return NULL;
}

const char *ask_pair_far(const struct book_case *of, const struct facts *facts,
			 struct case_text *to)
{
	(void)of;
	pair(facts, facts->far, to);
	return NULL;
}

// ---------------------------------------------------------------- all NICs

// One cycle through all NICs in random order (Sattolo's shuffle): nobody sends to itself.
static void shuffle(uint32_t *next, uint32_t count, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 0);
	for (uint32_t i = 0; i < count; i++)
		next[i] = i;
	for (uint32_t i = count - 1; i > 0; i--) {
		uint32_t other = rng_below(&rng, i), kept = next[i];
		next[i] = next[other];
		next[other] = kept;
	}
}

// The same for two halves: each NIC to one of the other half, where that share is what is asked.
static void shuffle_across(uint32_t *next, uint32_t count, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 0);
	uint32_t half = count / 2;
	for (uint32_t i = 0; i < count; i++)
		next[i] = i < half ? i + half : i - half;
	for (uint32_t first = 0; first < count; first += half)
		for (uint32_t i = half - 1; i > 0; i--) {
			uint32_t other = rng_below(&rng, i + 1), kept = next[first + i];
			next[first + i] = next[first + other];
			next[first + other] = kept;
		}
}

#define LARGE_PACKETS 5e6 // of a case over all NICs: seconds to minutes
#define LIMIT_SPANS 40
#define LIMIT_PS (10 * PS_PER_MS) // losses that are found by timers take their time

// When traffic that should take so long is given up.
static ps_t limit_of(ps_t span_ps)
{
	return LIMIT_SPANS * span_ps + LIMIT_PS;
}

// Each NIC sends to another: a list of flows, which stragglers can slow, as long as a scenario has
// room for so many. Where less is above a T0 than below all cross the fabric: near ones would be
// done early, and leave the rest more than their share.
static ps_t permutation(const struct facts *facts, uint32_t seed, struct case_text *to)
{
	uint32_t next[SCENARIO_FLOWS_MAX];
	ps_t span_ps = span_of(facts, facts->nics);
	unsigned long long bytes = bytes_in(facts, span_ps, facts->up_share);
	to->limit_ps = limit_of(span_ps);
	if (facts->nics > SCENARIO_FLOWS_MAX) {
		fprintf(to->scene, "seed: %u\ntraffic: {kind: permutation, bytes: %lluB}\n", seed,
			bytes);
		return span_ps;
	}
	if (facts->up_share < 1 && facts->nics % 2 == 0)
		shuffle_across(next, facts->nics, seed);
	else
		shuffle(next, facts->nics, seed);
	fprintf(to->scene, "traffic:\n  kind: flows\n  flows:\n");
	for (uint32_t i = 0; i < facts->nics; i++)
		fprintf(to->scene, "    - {from: %u, to: %u, bytes: %lluB}\n", i, next[i], bytes);
	return span_ps;
}

const char *ask_permutation(const struct book_case *of, const struct facts *facts,
			    struct case_text *to)
{
	static char reason[128];
	double packets = packets_of_all(facts);
	if (facts->is_quick && of->number > 1 && packets > LARGE_PACKETS) {
		snprintf(
			reason, sizeof(reason),
			"one permutation is enough for --quick: each has %.0f million packets here",
			packets / 1e6);
		return reason;
	}
	ps_t span_ps = permutation(facts, of->number, to);
	words_steady(to->scene, facts, span_ps, 0.9 * facts->up_share);
	return NULL;
}

const char *ask_twins(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	(void)of;
	if (facts->nics % 2 != 0)
		return "the number of NICs is odd";
	ps_t span_ps = span_of(facts, facts->nics);
	unsigned long long bytes = bytes_in(facts, span_ps, facts->up_share);
	uint32_t half = facts->nics / 2;
	to->limit_ps = limit_of(span_ps);
	if (facts->nics > SCENARIO_FLOWS_MAX)
		fprintf(to->scene, "traffic: {kind: tornado, bytes: %lluB}\n", bytes);
	else
		words_flows(to->scene, half, half, bytes);
	for (uint32_t i = half; facts->nics <= SCENARIO_FLOWS_MAX && i < facts->nics; i++)
		fprintf(to->scene, "    - {from: %u, to: %u, bytes: %lluB}\n", i, i - half, bytes);
	words_steady(to->scene, facts, span_ps, 0.9 * facts->up_share);
	return NULL;
}

const char *ask_tail(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	if (facts->up_share < 1)
		return "near and far messages cannot end together: less is above a T0 than below";
	permutation(facts, of->number, to);
	return NULL;
}

const char *ask_spray(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	if (!facts->is_mrc)
		return "transport.kind is not mrc";
	if (facts->planes < 2)
		return "the fabric has one plane";
	permutation(facts, of->number, to);
	return NULL;
}

// ---------------------------------------------------------------- many to one

// From the other half of the fabric, so that all are about as far away: who is nearer has more.
static const char *many_to_one(const struct facts *facts, uint32_t senders, struct case_text *to)
{
	if (senders > facts->nics - facts->far)
		return "the fabric has too few NICs";
	uint64_t bytes = bytes_in(facts, span_of(facts, 1), 1) / senders;
	bytes += facts->payload_bytes - bytes % facts->payload_bytes;
	fprintf(to->scene, "traffic:\n  kind: flows\n  flows:\n");
	for (uint32_t i = 0; i < senders; i++)
		fprintf(to->scene, "    - {from: %u, to: 0, bytes: %lluB}\n", facts->far + i,
			(unsigned long long)bytes);
	return NULL;
}

const char *ask_incast(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	if (facts->has_pfc)
		return "with queue.pfc the case `pauses` asks this";
	return many_to_one(facts, of->number, to);
}

const char *ask_no_pause(const struct book_case *of, const struct facts *facts,
			 struct case_text *to)
{
	if (!facts->is_mrc)
		return "transport.kind is not mrc";
	return ask_incast(of, facts, to);
}

const char *ask_trims(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	if (!facts->is_mrc || !facts->has_trim)
		return "nothing trims: transport.kind is not mrc, or queue.trim is false";
	uint32_t there = facts->nics - facts->far,
		 senders = of->number < there ? of->number : there;
	if (senders * facts->window_bytes < facts->queue_bytes * facts->planes)
		return "nothing is trimmed: windows of its senders fit into a port's queue";
	return many_to_one(facts, senders, to);
}

const char *ask_pauses(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	if (!facts->has_pfc)
		return "queue.pfc is false";
	return many_to_one(facts, of->number, to);
}

// ---------------------------------------------------------------- collectives

// Large enough that latencies of its steps are a twentieth of its time.
#define ROUND_TRIPS_PER_STEP 20
#define SPANS_OF_ALL_TO_ALL 4 // all pairs at once: more time than that shows nothing more
#define CHANNELS 4	      // traffic.channels when not given
#define BUSBW_SHARE 0.9	      // of a NIC's rate: nccl-tests
#define HOST_SHARE 0.85	      // of the NICs that a host's channels leave by

// Ranks of a collective: whole hosts, two at least.
static uint32_t ranks_of(const struct facts *facts, uint32_t ranks)
{
	uint32_t least = 2 * facts->nics_per_host;
	ranks = ranks < least ? least : ranks - ranks % facts->nics_per_host;
	return ranks < facts->nics ? ranks : facts->nics;
}

// Where there is room, every other host has ranks, so that more of the fabric is crossed.
static void collective(const struct facts *facts, const char *kind, const char *algorithm,
		       uint32_t ranks, uint64_t bytes, struct case_text *to)
{
	to->asked = (struct asked){.kind = kind, .algorithm = algorithm, .bytes = bytes};
	const char *placement = 2 * ranks <= facts->nics ? "spread" : "packed";
	fprintf(to->scene,
		"traffic: {kind: jobs}\njobs: [{name: one, kind: collective, collective: %s, "
		"algorithm: %s, ranks: %u, placement: %s, bytes: %lluB}]\n",
		kind, algorithm, ranks, placement, (unsigned long long)bytes);
}

// A multiple of a packet for each rank, at least one.
static uint64_t in_packets(const struct facts *facts, uint32_t ranks, double bytes)
{
	uint64_t grain = facts->payload_bytes * ranks;
	return bytes < (double)grain ? grain : (uint64_t)bytes - (uint64_t)bytes % grain;
}

// What bus bandwidth is held to.
struct busbw {
	double bps;
	const char *name, *source;
};

// `share` of the buffer passes each rank in `time_ps`, about: bus bandwidth as nccl-tests has it.
static void large(const struct facts *facts, const char *kind, const char *algorithm,
		  uint32_t ranks, ps_t time_ps, double share, const struct busbw *least,
		  struct case_text *to)
{
	char bound[64];
	uint64_t bytes = in_packets(facts, ranks, (double)bytes_in(facts, time_ps, 1) / share);
	to->bus_bytes = (double)bytes * share;
	collective(facts, kind, algorithm, ranks, bytes, to);
	snprintf(bound, sizeof(bound), "at most %.3f us", 8e6 * to->bus_bytes / least->bps);
	words_check(to->checks, least->name, "jobs.time_ps", bound, least->source);
	words_check(to->checks, "no repair by timeout", "congestion.retransmitted_by.timeout",
		    "is 0", "a timeout stands in every tail");
}

static ps_t time_of(const struct facts *facts, uint32_t steps)
{
	return (ps_t)steps * ROUND_TRIPS_PER_STEP * facts->base_rtt_ps;
}

static struct busbw of_nic(const struct facts *facts, double share)
{
	return (struct busbw){
		.bps = BUSBW_SHARE * share * facts->nic_rate_bps,
		.name = "time of 90 % bus bandwidth",
		.source = "nccl-tests: an error below 0.9 of what is expected",
	};
}

// A ring leaves a host of several NICs by one of them in each channel; inside it goes as fast as
// the scale-up domain does.
static struct busbw of_ring(const struct facts *facts)
{
	uint32_t channels = facts->nics_per_host < CHANNELS ? facts->nics_per_host : CHANNELS;
	double rate_bps = channels * facts->nic_rate_bps;
	if (facts->scaleup_bps == 0 || channels < 2)
		return of_nic(facts, 1);
	return (struct busbw){
		.bps = HOST_SHARE * (facts->scaleup_bps < rate_bps ? facts->scaleup_bps : rate_bps),
		.name = "time of 85 % bus bandwidth",
		.source = "sign-off practice: an all-reduce within 15 % of what is expected, here "
			  "of the NICs that a host's channels leave by",
	};
}

static void ring(const struct facts *facts, enum coll_kind kind, uint32_t ranks,
		 struct case_text *to)
{
	uint32_t steps = (kind == COLL_ALL_REDUCE ? 2 : 1) * (ranks - 1);
	struct busbw least = of_ring(facts);
	large(facts, coll_kind_name(kind), "ring", ranks, time_of(facts, steps),
	      (double)steps / ranks, &least, to);
}

const char *ask_collective(const struct book_case *of, const struct facts *facts,
			   struct case_text *to)
{
	ring(facts, (enum coll_kind)of->number, ranks_of(facts, 8), to);
	return NULL;
}

const char *ask_scale(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	if (of->number > facts->nics)
		return "the fabric has too few NICs";
	if (of->number < 2 * facts->nics_per_host)
		return "two hosts have more NICs than that";
	ring(facts, COLL_ALL_GATHER, ranks_of(facts, of->number), to);
	return NULL;
}

const char *ask_all_to_all(const struct book_case *of, const struct facts *facts,
			   struct case_text *to)
{
	(void)of;
	uint32_t ranks = ranks_of(facts, 8);
	ps_t time_ps = time_of(facts, ranks), most_ps = SPANS_OF_ALL_TO_ALL * span_of(facts, ranks);
	struct busbw least = of_nic(facts, facts->up_share);
	large(facts, "all_to_all", "direct", ranks, time_ps < most_ps ? time_ps : most_ps,
	      (double)(ranks - 1) / ranks, &least, to);
	return NULL;
}

// The draft's sizes: their bus bandwidth where its steps took no more than their latency.
const char *ask_size(const struct book_case *of, const struct facts *facts, struct case_text *to)
{
	uint32_t ranks = ranks_of(facts, 8), steps = 2 * (ranks - 1);
	uint64_t bytes = in_packets(facts, ranks, of->number * 1e6);
	struct busbw least = of_ring(facts);
	char bound[64];
	to->bus_bytes = (double)bytes * steps / ranks;
	double latency_us = steps * (double)facts->base_rtt_ps / (double)PS_PER_US;
	collective(facts, "all_reduce", "ring", ranks, bytes, to);
	snprintf(bound, sizeof(bound), "at most %.3f us",
		 latency_us + 8e6 * to->bus_bytes / least.bps);
	words_check(
		to->checks, "time of its steps and bytes", "jobs.time_ps", bound,
		"a round trip for each step, and 90 % of the NIC's rate (85 % of a host's NICs)");
	words_check(to->checks, "no repair by timeout", "congestion.retransmitted_by.timeout",
		    "is 0", "a timeout stands in every tail");
	return NULL;
}

// Each step waits for a message of one packet from another rank.
const char *ask_small_collective(const struct book_case *of, const struct facts *facts,
				 struct case_text *to)
{
	(void)of;
	uint32_t ranks = ranks_of(facts, 8), steps = 2 * (ranks - 1);
	char bound[64];
	collective(facts, "all_reduce", "ring", ranks, facts->payload_bytes * ranks, to);
	snprintf(bound, sizeof(bound), "at most %u %% of network.base_rtt_ps", steps * 100);
	words_check(to->checks, "time of its steps", "jobs.time_ps", bound,
		    "a step is one way of a packet, and less than a round trip");
	words_check(to->checks, "nothing sent again", "congestion.retransmitted", "is 0",
		    "a packet at a time");
	return NULL;
}
