// SPDX-License-Identifier: Apache-2.0
// When a host that faults hit works, and how far its work is: against time taken picosecond by
// picosecond.

#include <stdint.h>

#include <cmocka.h>

#include <weft/host/stall.h>

#define TIMES 400
#define CHANGES_MAX 6
#define QUARTER (SHARE_WHOLE / 4)

// Random changes of speed, in quarters of the whole.
static uint32_t draw_changes(struct rng *rng, struct rate_change *ret)
{
	uint32_t count = rng_below(rng, CHANGES_MAX + 1);
	ps_t at = 0;
	for (uint32_t i = 0; i < count; i++) {
		at += rng_below(rng, 60);
		ret[i].at = at;
		ret[i].rate_ppb = (uint32_t)(rng_below(rng, 5) * QUARTER);
	}
	return count;
}

static uint32_t speed_at(const struct rate_change *changes, uint32_t count, ps_t at)
{
	uint32_t rate_ppb = SHARE_WHOLE;
	for (uint32_t i = 0; i < count && changes[i].at <= at; i++)
		rate_ppb = changes[i].rate_ppb;
	return rate_ppb;
}

static void work_is_done_when_the_speeds_add_up_to_it(void **)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 0);
		struct rate_change changes[CHANGES_MAX];
		uint32_t count = draw_changes(&rng, changes);
		const struct host_faults faults = {.work = changes, .work_count = count};
		ps_t quarters = 0, work = 0;
		for (ps_t at = 0; at < TIMES; at++) {
			for (; 4 * work <= quarters; work++)
				assert_int_equal(stall_work_done(&faults, work), at);
			quarters += speed_at(changes, count, at) / QUARTER;
		}
	}
}

static void work_of_whole_speed_is_time(void **)
{
	const struct host_faults none = {0};
	assert_int_equal(stall_work_done(&none, 0), 0);
	assert_int_equal(stall_work_done(&none, 12345), 12345);
	const struct rate_change still = {.at = 100, .rate_ppb = 0};
	const struct host_faults stopped = {.work = &still, .work_count = 1};
	assert_int_equal(stall_work_done(&stopped, 100), 100);
	assert_int_equal(stall_work_done(&stopped, 101), PS_NEVER);
}

static void stalls_that_touch_are_one(void **)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 1);
		struct cable_fault stalls[4];
		uint32_t count = 1 + rng_below(&rng, 4);
		for (uint32_t i = 0; i < count; i++) {
			ps_t from = rng_below(&rng, 80), length = 1 + rng_below(&rng, 30);
			stalls[i] = (struct cable_fault){
				.kind = FAULT_STALL, .from_ps = from, .until_ps = from + length};
		}
		bool is_stalled[130] = {false};
		for (ps_t at = 0; at < 130; at++)
			for (uint32_t i = 0; i < count; i++)
				is_stalled[at] |= at >= stalls[i].from_ps &&
					at < stalls[i].until_ps;
		const struct host_faults faults = {.stalls = stalls, .stall_count = count};
		for (ps_t at = 0; at < 120; at++) {
			ps_t until = at, next = at;
			while (is_stalled[until])
				until++;
			assert_int_equal(stall_until(stalls, count, at), until);
			while (next < 120 && !is_stalled[next])
				next++;
			assert_int_equal(stall_next(&faults, at), next < 120 ? next : PS_NEVER);
		}
	}
}
