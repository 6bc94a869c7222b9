// SPDX-License-Identifier: Apache-2.0
// Cases of load: what a fabric carries when nothing is broken. Shares that goodput is held to are
// those of lines: payload over all of a packet (formula one_way), times what lies above a T0.

#include <stdlib.h>
#include <string.h>

#include <weft/core/rng.h>
#include <weft/workload/workload_flow.h>

#include "acceptance.h"
#include "words.h"

const char *ask_one_packet(const struct acceptance_case *of,
			   const struct fabric_facts *fabric_facts, struct case_text *to)
{
	(void)of;
	words_pairs(to, fabric_facts, &(struct pair){0, fabric_facts->far}, 1,
		    fabric_facts->payload_bytes);
	words_check(to->checks, "completion", "flows.max_ns",
		    "at most 102 % of network.base_rtt_ps",
		    "a packet out and its answer back, nothing before it");
	words_check(to->checks, "nothing retransmitted", "congestion.retransmitted", "is 0",
		    "an idle fabric");
	return NULL;
}

static const char *pair(const struct fabric_facts *fabric_facts, uint32_t nic, struct case_text *to)
{
	struct pair one = {0, nic};
	struct carried carried;
	const char *reason = words_carry(&carried, to, fabric_facts, &one, 1, 1);
	if (reason != NULL)
		return reason;
	ps_t span_ps = span_of(fabric_facts, 1, &carried);
	words_pairs(to, fabric_facts, &one, 1, bytes_in(fabric_facts, span_ps, carried.share));
	words_steady(to->fabric_file, fabric_facts, span_ps, 0.97 * carried.share);
	return NULL;
}

const char *ask_pair_near(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
			  struct case_text *to)
{
	(void)of;
	if (fabric_facts->near == NIC_NONE)
		return "no two NICs are at one switch";
	return pair(fabric_facts, fabric_facts->near, to);
}

const char *ask_pair_far(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
			 struct case_text *to)
{
	(void)of;
	return pair(fabric_facts, fabric_facts->far, to);
}

// ---------------------------------------------------------------- all NICs

// One cycle through all NICs in random order (Sattolo's shuffle): nobody sends to itself.
static void shuffle(struct pair *pairs, uint32_t count, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 0);
	for (uint32_t i = 0; i < count; i++)
		pairs[i] = (struct pair){i, i};
	for (uint32_t i = count - 1; i > 0; i--) {
		uint32_t other = rng_below(&rng, i), kept = pairs[i].to;
		pairs[i].to = pairs[other].to;
		pairs[other].to = kept;
	}
}

// NICs in the order of their T0s. Over so many at most is a case a list of flows.
static void order_by_t0(const struct fabric_facts *fabric_facts, uint32_t *ret)
{
	const uint16_t *at = fabric_facts->topology->nic_switch;
	uint32_t switches = fabric_facts->topology->switch_count / fabric_facts->planes, count = 0;
	for (uint32_t i = 0; at == NULL && i < fabric_facts->nics; i++)
		ret[i] = i;
	for (uint32_t place = 0; at != NULL && place < switches; place++)
		for (uint32_t i = 0; i < fabric_facts->nics; i++)
			if (at[i] == place)
				ret[count++] = i;
}

// The same for two halves, T0 by T0: each NIC to one of the other half, where that share is what is
// asked.
static void shuffle_across(const struct fabric_facts *fabric_facts, struct pair *pairs,
			   uint64_t seed)
{
	uint32_t order[SCENARIO_FLOWS_MAX], next[SCENARIO_FLOWS_MAX];
	uint32_t count = fabric_facts->nics, half = count / 2;
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 0);
	order_by_t0(fabric_facts, order);
	for (uint32_t i = 0; i < count; i++)
		next[i] = i < half ? i + half : i - half;
	for (uint32_t first = 0; first < count; first += half)
		for (uint32_t i = half - 1; i > 0; i--) {
			uint32_t other = rng_below(&rng, i + 1), kept = next[first + i];
			next[first + i] = next[first + other];
			next[first + other] = kept;
		}
	for (uint32_t i = 0; i < count; i++)
		pairs[order[i]] = (struct pair){order[i], order[next[i]]};
}

#define LARGE_HOPS 30e6 // of a case over all NICs: more than seconds
#define LIMIT_SPANS 40
#define LIMIT_PS (10 * PS_PER_MS) // losses that are found by timers take their time

// When traffic that should take so long is given up.
static ps_t limit_of(ps_t span_ps)
{
	return LIMIT_SPANS * span_ps + LIMIT_PS;
}

// A case over all NICs: who sends to whom.
struct all {
	struct pair *pairs; // [nics]; the caller's to free
	struct carried carried;
	ps_t span_ps;
	uint64_t bytes; // of each
};

// What the fabric carries of its pairs, and so how much there is to send. NULL, or why it is not
// asked.
static const char *all_size(struct all *all, const struct fabric_facts *fabric_facts,
			    struct case_text *to)
{
	const char *reason = words_carry(&all->carried, to, fabric_facts, all->pairs,
					 fabric_facts->nics, 1);
	if (reason != NULL)
		return reason;
	all->span_ps = span_of(fabric_facts, fabric_facts->nics, &all->carried);
	all->bytes = bytes_in(fabric_facts, all->span_ps, all->carried.share);
	to->limit_ps = limit_of(all->span_ps);
	return NULL;
}

static void pattern(const struct fabric_facts *fabric_facts, struct pair *pairs, uint32_t seed)
{
	struct flow *flows = calloc(fabric_facts->nics, sizeof(*flows));
	if (flows == NULL)
		return;
	pattern_permutation(flows, fabric_facts->nics, 1, seed);
	for (uint32_t i = 0; i < fabric_facts->nics; i++)
		pairs[i] = (struct pair){flows[i].from, flows[i].to};
	free(flows);
}

// Each NIC sends to another: a list of flows, which stragglers can slow, as long as a scenario has
// room for so many. Where less is above a T0 than below all cross the fabric: near ones would be
// done early, and leave the rest more than their share.
static const char *all_permuted(struct all *all, const struct fabric_facts *fabric_facts,
				uint32_t seed, struct case_text *to)
{
	*all = (struct all){.pairs = calloc(fabric_facts->nics, sizeof(*all->pairs))};
	if (all->pairs == NULL)
		return "not enough memory";
	if (fabric_facts->nics > SCENARIO_FLOWS_MAX)
		pattern(fabric_facts, all->pairs, seed);
	else if (fabric_facts->up_share < 1 && fabric_facts->nics % 2 == 0)
		shuffle_across(fabric_facts, all->pairs, seed);
	else
		shuffle(all->pairs, fabric_facts->nics, seed);
	return all_size(all, fabric_facts, to);
}

static void write_all(const struct all *all, const struct fabric_facts *fabric_facts,
		      const char *kind, struct case_text *to)
{
	if (fabric_facts->nics <= SCENARIO_FLOWS_MAX) {
		words_pairs(to, fabric_facts, all->pairs, fabric_facts->nics, all->bytes);
		return;
	}
	fprintf(to->fabric_file, "traffic: {kind: %s, bytes: %lluB}\n", kind,
		(unsigned long long)all->bytes);
	cost_add(&to->cost, fabric_facts,
		 &(struct messages){fabric_facts->nics, 1, (double)all->bytes, all->carried.links});
	to->cost.senders = fabric_facts->nics;
}

static const char *permutation(struct all *all, const struct fabric_facts *fabric_facts,
			       uint32_t seed, struct case_text *to)
{
	const char *reason = all_permuted(all, fabric_facts, seed, to);
	if (reason == NULL && fabric_facts->nics > SCENARIO_FLOWS_MAX)
		fprintf(to->fabric_file, "seed: %u\n", seed);
	if (reason == NULL)
		write_all(all, fabric_facts, "permutation", to);
	free(all->pairs);
	return reason;
}

const char *ask_permutation(const struct acceptance_case *of,
			    const struct fabric_facts *fabric_facts, struct case_text *to)
{
	struct all all;
	const char *reason = permutation(&all, fabric_facts, of->number, to);
	if (reason != NULL)
		return reason;
	words_carried(to->fabric_file, fabric_facts, all.span_ps, &all.carried);
	to->is_left_out = fabric_facts->is_quick && of->number > 1 && to->cost.hops > LARGE_HOPS;
	return to->is_left_out
		? words_reason(to,
			       "one permutation is enough for --quick: each has %.0f "
			       "million packets here",
			       to->cost.packets / 1e6)
		: NULL;
}

const char *ask_twins(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		      struct case_text *to)
{
	(void)of;
	uint32_t half = fabric_facts->nics / 2;
	struct all all = {0};
	if (fabric_facts->nics % 2 != 0)
		return "the number of NICs is odd";
	all.pairs = calloc(fabric_facts->nics, sizeof(*all.pairs));
	if (all.pairs == NULL)
		return "not enough memory";
	for (uint32_t i = 0; i < fabric_facts->nics; i++)
		all.pairs[i] = (struct pair){i, i < half ? i + half : i - half};
	const char *reason = all_size(&all, fabric_facts, to);
	if (reason == NULL) {
		write_all(&all, fabric_facts, "tornado", to);
		words_carried(to->fabric_file, fabric_facts, all.span_ps, &all.carried);
	}
	free(all.pairs);
	return reason;
}

const char *ask_tail(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		     struct case_text *to)
{
	struct all all;
	const char *reason = permutation(&all, fabric_facts, of->number, to);
	if (reason == NULL && all.carried.share < 1)
		return words_reason(to,
				    "its messages cannot end together: the fabric carries %.3g %% "
				    "of what NICs send, and near ones have more",
				    all.carried.share * 100);
	return reason;
}

const char *ask_spray(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		      struct case_text *to)
{
	struct all all;
	if (!fabric_facts->is_mrc)
		return "transport.kind is not mrc";
	if (fabric_facts->planes < 2)
		return "the fabric has one plane";
	return permutation(&all, fabric_facts, of->number, to);
}

// ---------------------------------------------------------------- many to one

#define SENDERS_MAX 64
#define FULL_RECEIVER 0.99 // of its rate: what the ways to it must carry

// From far away and on, none of them below the receiver's T0, so that all are about as far: who is
// nearer has more. Returns how many there are, at most `most`.
static uint32_t senders_of(const struct fabric_facts *fabric_facts, struct pair *pairs,
			   uint32_t most)
{
	uint32_t count = 0;
	for (uint32_t nic = fabric_facts->far; nic < fabric_facts->nics && count < most; nic++)
		if (fabric_facts->drill_count == 0 ||
		    topology_links(fabric_facts->topology, fabric_facts->fabric, nic, 0) > 2)
			pairs[count++] = (struct pair){nic, 0};
	return count;
}

static const char *many_to_one(const struct fabric_facts *fabric_facts, uint32_t senders,
			       struct case_text *to)
{
	struct pair pairs[SENDERS_MAX];
	struct carried carried;
	if (senders_of(fabric_facts, pairs, senders) < senders)
		return "the fabric has too few NICs";
	const char *reason = words_carry(&carried, to, fabric_facts, pairs, senders, 1.0 / senders);
	if (reason != NULL)
		return reason;
	if (carried.share * senders < FULL_RECEIVER)
		return words_reason(to,
				    "the receiver is not what is full: links on the way carry %.3g "
				    "%% of its rate",
				    carried.share * senders * 100);
	carried.share = 1; // of all of them
	uint64_t bytes = bytes_in(fabric_facts, span_of(fabric_facts, 1, &carried), 1) / senders;
	bytes += fabric_facts->payload_bytes - bytes % fabric_facts->payload_bytes;
	words_pairs(to, fabric_facts, pairs, senders, bytes);
	return NULL;
}

const char *ask_incast(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		       struct case_text *to)
{
	if (fabric_facts->has_pfc)
		return "with queue.pfc the case `pauses` asks this";
	return many_to_one(fabric_facts, of->number, to);
}

const char *ask_no_pause(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
			 struct case_text *to)
{
	if (!fabric_facts->is_mrc)
		return "transport.kind is not mrc";
	return ask_incast(of, fabric_facts, to);
}

const char *ask_trims(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		      struct case_text *to)
{
	if (!fabric_facts->is_mrc || !fabric_facts->has_trim)
		return "nothing trims: transport.kind is not mrc, or queue.trim is false";
	struct pair pairs[SENDERS_MAX];
	uint32_t senders = senders_of(fabric_facts, pairs, of->number);
	if (senders * fabric_facts->window_bytes < fabric_facts->queue_bytes * fabric_facts->planes)
		return "nothing is trimmed: windows of its senders fit into a port's queue";
	return many_to_one(fabric_facts, senders, to);
}

const char *ask_pauses(const struct acceptance_case *of, const struct fabric_facts *fabric_facts,
		       struct case_text *to)
{
	if (!fabric_facts->has_pfc)
		return "queue.pfc is false";
	return many_to_one(fabric_facts, of->number, to);
}
