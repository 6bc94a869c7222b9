// SPDX-License-Identifier: Apache-2.0
// The light on a NIC's cable over time: what faults leave of it, when it changes next, and which
// timelines no NIC can follow.
#include <weft/host/link_state.h>
#include <weft/world/world.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/rng.h>

#define US PS_PER_US

static const struct cable_fault one_down = {
	.kind = FAULT_LINK_DOWN, .from_ps = 10 * US, .until_ps = 20 * US};
static const struct cable_fault for_ever = {
	.kind = FAULT_LINK_DOWN, .from_ps = 50 * US, .until_ps = PS_NEVER};
// dark in 100-102, 105-107, ... and in 120-121, where the end cuts it
static const struct cable_fault flap = {.kind = FAULT_FLAP,
					.from_ps = 100 * US,
					.until_ps = 121 * US,
					.down_ps = 2 * US,
					.up_ps = 3 * US};

static struct port_watch watch_of(const struct cable_fault *faults, uint32_t count)
{
	return (struct port_watch){.faults = faults, .fault_count = count};
}

// What link_state_next() says must be what link_state_is_up() says at each nanosecond of 200 us,
// and the same from wherever it is asked.
static void hold_to_the_truth(const struct port_watch *watch)
{
	ps_t next = link_state_next(watch, 0);
	bool was_on = link_state_is_up(watch, 0);
	for (ps_t at = 0; at < 200 * US; at += PS_PER_NS) {
		bool is_on = link_state_is_up(watch, at);
		assert_int_equal(is_on != was_on, at == next);
		if (at == next)
			next = link_state_next(watch, at);
		was_on = is_on;
		assert_int_equal(link_state_next(watch, at), next);
	}
}

static void without_faults_there_always_is_light(void **state)
{
	(void)state;
	struct port_watch watch = watch_of(NULL, 0);
	assert_true(link_state_is_up(&watch, 0));
	assert_int_equal(link_state_next(&watch, 0), PS_NEVER);
	assert_true(link_state_is_steady(&watch, 0, PS_NEVER - 1));
}

static void a_cable_is_dark_from_its_fault_until_the_end(void **state)
{
	(void)state;
	struct port_watch watch = watch_of(&one_down, 1);
	assert_true(link_state_is_up(&watch, 10 * US - 1));
	assert_false(link_state_is_up(&watch, 10 * US));
	assert_false(link_state_is_up(&watch, 20 * US - 1));
	assert_true(link_state_is_up(&watch, 20 * US));
	assert_int_equal(link_state_next(&watch, 0), 10 * US);
	assert_int_equal(link_state_next(&watch, 10 * US), 20 * US);
	assert_int_equal(link_state_next(&watch, 20 * US), PS_NEVER);
	hold_to_the_truth(&watch);
}

static void before_the_start_it_is_as_at_the_start(void **state)
{
	(void)state;
	struct cable_fault fault = one_down;
	fault.from_ps = 0;
	struct port_watch watch = watch_of(&fault, 1);
	assert_false(link_state_is_up(&watch, -10 * US));
	assert_int_equal(link_state_next(&watch, -10 * US), 20 * US);
	assert_true(link_state_is_steady(&watch, -10 * US, 20 * US - 1));
	assert_false(link_state_is_steady(&watch, -10 * US, 20 * US));
}

static void a_fault_without_an_end_is_the_last_change(void **state)
{
	(void)state;
	struct port_watch watch = watch_of(&for_ever, 1);
	assert_int_equal(link_state_next(&watch, 0), 50 * US);
	assert_int_equal(link_state_next(&watch, 50 * US), PS_NEVER);
	assert_false(link_state_is_up(&watch, PS_NEVER - 1));
	hold_to_the_truth(&watch);
}

static void a_flap_turns_until_it_is_cut(void **state)
{
	(void)state;
	struct port_watch watch = watch_of(&flap, 1);
	const ps_t edges[] = {100, 102, 105, 107, 110, 112, 115, 117, 120, 121};
	ps_t at = 0;
	for (uint32_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		at = link_state_next(&watch, at);
		assert_int_equal(at, edges[i] * US);
	}
	assert_int_equal(link_state_next(&watch, at), PS_NEVER);
	hold_to_the_truth(&watch);
}

static void lost_packets_take_no_light(void **state)
{
	(void)state;
	const struct cable_fault loss = {.kind = FAULT_LOSS, .from_ps = 0, .until_ps = PS_NEVER};
	struct port_watch watch = watch_of(&loss, 1);
	assert_true(link_state_is_up(&watch, 5 * US));
	assert_int_equal(link_state_next(&watch, 0), PS_NEVER);
}

static void faults_that_touch_or_overlap_are_one_darkness(void **state)
{
	(void)state;
	struct cable_fault faults[3] = {one_down, one_down, flap};
	faults[1].from_ps = 20 * US;
	faults[1].until_ps = 103 * US; // into the flap's second bright time
	struct port_watch watch = watch_of(faults, 3);
	assert_int_equal(link_state_next(&watch, 0), 10 * US);
	assert_int_equal(link_state_next(&watch, 10 * US), 103 * US);
	assert_int_equal(link_state_next(&watch, 103 * US), 105 * US);
	hold_to_the_truth(&watch);
}

// A flap under a cable that is down for good would take for ever to look through.
static void what_flaps_in_the_dark_is_passed_over(void **state)
{
	(void)state;
	struct cable_fault faults[2] = {flap, for_ever};
	faults[0].until_ps = PS_PER_S * 1000;
	struct port_watch watch = watch_of(faults, 2);
	assert_int_equal(link_state_next(&watch, 50 * US), PS_NEVER);
	faults[1].until_ps = PS_PER_S * 900;
	assert_int_equal(link_state_next(&watch, 50 * US), PS_PER_S * 900 + 2 * US);
}

static void random_timelines_tell_the_truth(void **state)
{
	(void)state;
	struct rng rng = rng_of(3, RNG_TEST, 0);
	for (uint32_t round = 0; round < 60; round++) {
		struct cable_fault faults[4];
		for (uint32_t i = 0; i < 4; i++) {
			struct cable_fault *fault = &faults[i];
			*fault = (struct cable_fault){.from_ps = rng_below(&rng, 150000) *
							      PS_PER_NS};
			fault->kind = rng_below(&rng, 3) ? FAULT_FLAP : FAULT_LINK_DOWN;
			fault->until_ps = fault->from_ps + (1 + rng_below(&rng, 90000)) * PS_PER_NS;
			fault->down_ps = (1 + rng_below(&rng, 9000)) * PS_PER_NS;
			fault->up_ps = (1 + rng_below(&rng, 9000)) * PS_PER_NS;
		}
		struct port_watch watch = watch_of(faults, 1 + rng_below(&rng, 4));
		hold_to_the_truth(&watch);
	}
}

// ---------------------------------------------------------------- building

#define ARENA_BYTES ((size_t)64 << 20)
#define WORLD \
	"fabric: {nics: 8, nics_per_t0: 4, t1_count: 2, planes: 2}\n" \
	"traffic: {kind: flows, flows: [{from: 0, to: 4, bytes: 1MB}]}\n" \
	"limits: {packets: 5000, memory: 64MiB}\n"

static int build(const char *text, const char *set, struct refusal *refusal)
{
	static struct scenario scenario;
	static struct world world;
	struct arena arena;
	void *memory = aligned_alloc(64, ARENA_BYTES);
	assert_non_null(memory);
	memset(memory, 0, ARENA_BYTES);
	arena_init(&arena, memory, ARENA_BYTES);
	assert_int_equal(
		scenario_parse(&scenario, "text", text, strlen(text), &set, set != NULL, refusal),
		0);
	int rc = world_build(&world, &arena, &scenario, NULL, 0, refusal);
	free(memory);
	return rc;
}

static void a_flap_that_no_nic_can_follow_is_refused_at_its_line(void **state)
{
	(void)state;
	struct refusal refusal = {0};
	static const char quick[] = WORLD
		"faults:\n  - {kind: loss, at: all, probability: 1%}\n"
		"  - {kind: flap, at: {nic: 0}, down: 300ns, up: 600ns}\n";
	assert_int_equal(build(quick, NULL, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "flaps every 900000 ps"));
	assert_int_equal(refusal.line, 6);
	// who does not look may be flapped at
	assert_int_equal(build(quick, "transport.port_status=false", &refusal), 0);
}

static void a_flap_of_a_microsecond_can_be_followed(void **state)
{
	(void)state;
	struct refusal refusal = {0};
	assert_int_equal(build(WORLD
			       "faults: [{kind: flap, at: {nic: 0}, down: 400ns, up: 600ns}]\n",
			       NULL, &refusal),
			 0);
	assert_int_equal(build(WORLD
			       "faults: [{kind: flap, at: {nic: 0}, down: 399ns, up: 600ns}]\n",
			       NULL, &refusal),
			 -EINVAL);
}

static void between_switches_a_flap_may_be_as_quick_as_it_likes(void **state)
{
	(void)state;
	struct refusal refusal = {0};
	assert_int_equal(build(WORLD "faults: [{kind: flap, at: {t0: 0, plane: 0, up: 0}, down: "
				     "300ns, up: 600ns}]\n",
			       NULL, &refusal),
			 0);
}

// Two flaps that fill each other's gaps: the light never changes, and the search for when it does
// comes to an end.
static void flaps_that_never_let_light_through_are_not_searched_for_ever(void **state)
{
	(void)state;
	struct cable_fault both[2] = {flap, flap};
	both[0].down_ps = both[0].up_ps = both[1].down_ps = both[1].up_ps = PS_PER_US;
	both[0].from_ps = 0;
	both[1].from_ps = PS_PER_US;
	both[0].until_ps = both[1].until_ps = PS_NEVER;
	struct port_watch watch = watch_of(both, 2);
	ps_t next = link_state_next(&watch, 0);
	assert_true(next > PS_PER_MS && next < PS_PER_S);
	assert_false(link_state_is_up(&watch, next));
}
