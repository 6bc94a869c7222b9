// SPDX-License-Identifier: Apache-2.0
// Patterns: derangements are uniform, incasts leave the receiver's host alone.

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/workload.h>

static void a_permutation_hits_each_nic_once_and_never_itself(void **)
{
	static struct flow flows[1000];
	for (uint32_t nics = 2; nics <= 1000; nics += nics < 20 ? 1 : 245) {
		uint8_t hit[1000] = {0};
		pattern_permutation(flows, nics, 4096, nics);
		for (uint32_t i = 0; i < nics; i++) {
			assert_int_equal(flows[i].from, i);
			assert_int_not_equal(flows[i].to, i);
			assert_int_equal(flows[i].bytes, 4096);
			assert_int_equal(flows[i].start_ps, 0);
			assert_int_equal(hit[flows[i].to]++, 0);
		}
	}
}

// Four NICs have nine derangements: six cycles of four and three pairs of swaps. Over 9000 seeds
// each comes 1000 times, give or take five standard deviations (30 each).
static void every_derangement_is_as_likely(void **)
{
	uint32_t seen[256] = {0}, kinds = 0;
	for (uint64_t seed = 0; seed < 9000; seed++) {
		struct flow flows[4];
		uint32_t word = 0;
		pattern_permutation(flows, 4, 1, seed);
		for (uint32_t i = 0; i < 4; i++)
			word = word * 4 + flows[i].to;
		seen[word]++;
	}
	for (uint32_t i = 0; i < 256; i++) {
		if (seen[i] == 0)
			continue;
		kinds++;
		assert_in_range(seen[i], 850, 1150);
	}
	assert_int_equal(kinds, 9);
}

static void an_incast_has_distinct_senders_outside_the_host(void **)
{
	struct flow flows[28];
	struct refusal refusal;
	uint32_t as_receiver[32] = {0}, as_sender[32] = {0};
	for (uint64_t seed = 0; seed < 3200; seed++) {
		uint32_t senders = 1 + (uint32_t)(seed % 28);
		assert_int_equal(pattern_incast(flows, 32, 4, senders, 9, seed, &refusal), 0);
		for (uint32_t i = 0; i < senders; i++) {
			assert_int_equal(flows[i].to, flows[0].to);
			assert_int_not_equal(flows[i].from / 4, flows[i].to / 4);
			if (i > 0)
				assert_true(flows[i].from > flows[i - 1].from);
			as_sender[flows[i].from]++;
		}
		as_receiver[flows[0].to]++;
	}
	for (uint32_t i = 0; i < 32; i++) { // 100 and 1450 expected
		assert_in_range(as_receiver[i], 50, 150);
		assert_in_range(as_sender[i], 1250, 1650);
	}
}

static void an_incast_without_enough_senders_is_refused(void **)
{
	struct flow flows[28];
	struct refusal refusal;
	assert_int_equal(pattern_incast(flows, 32, 4, 29, 9, 1, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "29 senders"));
	assert_int_equal(pattern_incast(flows, 4, 4, 1, 9, 1, &refusal), -EINVAL);
	assert_int_equal(pattern_incast(flows, 2, 4, 1, 9, 1, &refusal), -EINVAL);
	assert_int_equal(pattern_incast(flows, 32, 4, 0, 9, 1, &refusal), -EINVAL);
}

static void a_seed_names_a_pattern(void **)
{
	struct flow first[64], second[64];
	pattern_permutation(first, 64, 1, 5);
	pattern_permutation(second, 64, 1, 5);
	assert_memory_equal(first, second, sizeof(first));
	pattern_permutation(second, 64, 1, 6);
	assert_memory_not_equal(first, second, sizeof(first));
}

static void all_to_all_has_each_pair_once_and_neighbours_first(void **state)
{
	(void)state;
	enum { NICS = 7 };
	struct flow flows[NICS * (NICS - 1)];
	uint32_t seen[NICS][NICS] = {0};
	pattern_all_to_all(flows, NICS, 123);
	for (uint32_t i = 0; i < NICS * (NICS - 1); i++) {
		seen[flows[i].from][flows[i].to]++;
		assert_int_equal((flows[i].to + NICS - flows[i].from) % NICS, 1 + i / NICS);
		assert_true(flows[i].bytes == 123 && flows[i].start_ps == 0);
	}
	for (uint32_t from = 0; from < NICS; from++)
		for (uint32_t to = 0; to < NICS; to++)
			assert_int_equal(seen[from][to], from != to);
}

// htsim's generator of incasts from afar stops at half of the NICs; all but one may send here.
static void a_star_may_have_all_other_nics(void **)
{
	struct flow in[15], out[15];
	struct refusal refusal;
	uint32_t sum = 0;
	assert_int_equal(pattern_incast(in, 16, 1, 15, 9, 3, &refusal), 0);
	assert_int_equal(pattern_outcast(out, 16, 1, 15, 9, 3, &refusal), 0);
	for (uint32_t i = 0; i < 15; i++)
		sum += in[i].from;
	assert_int_equal(sum + in[0].to, 120);
	for (uint32_t i = 0; i < 15; i++)
		assert_int_equal(out[i].to, i + (i >= out[0].from));
}

static void an_outcast_has_one_sender_and_receivers_outside_its_host(void **)
{
	struct flow flows[28];
	struct refusal refusal;
	uint32_t as_sender[32] = {0}, as_receiver[32] = {0};
	for (uint64_t seed = 0; seed < 3200; seed++) {
		uint32_t receivers = 1 + (uint32_t)(seed % 28);
		assert_int_equal(pattern_outcast(flows, 32, 4, receivers, 9, seed, &refusal), 0);
		for (uint32_t i = 0; i < receivers; i++) {
			assert_int_equal(flows[i].from, flows[0].from);
			assert_int_not_equal(flows[i].from / 4, flows[i].to / 4);
			assert_true(flows[i].bytes == 9 && flows[i].start_ps == 0);
			if (i > 0)
				assert_true(flows[i].to > flows[i - 1].to);
			as_receiver[flows[i].to]++;
		}
		as_sender[flows[0].from]++;
	}
	for (uint32_t i = 0; i < 32; i++) { // 100 and 1450 expected
		assert_in_range(as_sender[i], 50, 150);
		assert_in_range(as_receiver[i], 1250, 1650);
	}
	assert_int_equal(pattern_outcast(flows, 32, 4, 29, 9, 1, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "29 receivers"));
	assert_int_equal(pattern_outcast(flows, 32, 4, 0, 9, 1, &refusal), -EINVAL);
}

static void a_tornado_sends_to_the_twin_in_the_other_half(void **)
{
	struct flow flows[1000];
	for (uint32_t nics = 2; nics <= 1000; nics += 2) {
		pattern_tornado(flows, nics, 77);
		for (uint32_t i = 0; i < nics; i++) {
			assert_int_equal(flows[i].from, i);
			assert_int_equal(flows[i].to, i < nics / 2 ? i + nics / 2 : i - nics / 2);
			assert_true(flows[i].bytes == 77 && flows[i].start_ps == 0);
		}
	}
}

// Fires what flow `at` fires; returns how many flows that starts.
static uint32_t fire(const struct flow *flows, struct trigger *triggers, uint32_t number)
{
	if (number == 0 || ++triggers[number - 1].fired != triggers[number - 1].needed)
		return 0;
	uint32_t count = 0;
	for (uint32_t at = triggers[number - 1].first; at > 0; at = flows[at - 1].next)
		count++;
	return count;
}

// Whether all that a trigger starts is at one NIC.
static bool starts(const struct flow *flows, const struct trigger *triggers, uint32_t number,
		   uint32_t nic)
{
	for (uint32_t at = number > 0 ? triggers[number - 1].first : 0; at > 0;
	     at = flows[at - 1].next)
		if (flows[at - 1].from != nic)
			return false;
	return true;
}

// Each round all NICs exchange with another at twice the distance of the round before, and begin it
// with the last round's message sent and received. All of n log2 n flows come to run, as those of
// htsim's generator do not.
static void a_butterfly_has_log_n_rounds_that_follow_each_other(void **)
{
	static struct flow flows[1024 * 10];
	static struct trigger triggers[1024 * 9];
	for (uint32_t nics = 2, rounds = 1; nics <= 1024; nics *= 2, rounds++) {
		uint32_t begun = nics;
		assert_int_equal(pattern_butterfly_rounds(nics), rounds);
		pattern_butterfly(flows, triggers, nics, 5);
		for (uint32_t at = 0; at < nics * rounds; at++) {
			const struct flow *flow = &flows[at];
			assert_int_equal(flow->from, at % nics);
			assert_int_equal(flow->to, flow->from ^ (1u << at / nics));
			assert_int_equal(flow->start_ps, at < nics ? 0 : PS_NEVER);
			assert_int_equal(flow->bytes, 5);
			assert_true(at < begun); // those before start it
			begun += fire(flows, triggers, flow->on_sent);
			begun += fire(flows, triggers, flow->on_received);
			assert_int_equal(starts(flows, triggers, flow->on_sent, flow->from), 1);
			assert_int_equal(starts(flows, triggers, flow->on_received, flow->to), 1);
		}
		assert_int_equal(begun, nics * rounds);
	}
	for (uint32_t nics = 0; nics < 9; nics++)
		assert_int_equal(pattern_butterfly_rounds(nics),
				 nics == 2	     ? 1
					 : nics == 4 ? 2
					 : nics == 8 ? 3
						     : 0);
}
