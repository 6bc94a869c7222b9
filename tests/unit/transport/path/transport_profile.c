// SPDX-License-Identifier: Apache-2.0
// Explicit and generated entropy values, backups and the planes they belong to, what is denied.
#include <errno.h>

#include "../../../../lib/transport/path/control_path.h"
#include "../transport_bench.h"

static struct transport_config with_backups(uint32_t universe)
{
	struct transport_config config = bench_config(); // 32 on 2 planes
	config.ev_universe = universe;
	return config;
}

static struct path_set *path_of(const struct bench *bench)
{
	return &endpoint_qp(bench->ends[0], 0)->path;
}

// The rotation must have as many usable places on each plane as the counts say, and each place an
// EV of its own plane.
static void check_planes(struct path_set *set)
{
	const struct path_shape *shape = set->shape;
	for (uint32_t plane = 0; plane < shape->planes; plane++) {
		uint32_t usable = 0;
		for (uint32_t i = 0; i < shape->per_plane; i++) {
			uint32_t place = i * shape->planes + plane;
			uint32_t index = set->ev_slots ? set->ev_slots[place] : place;
			if (index % shape->planes != plane) // planes stay alike
				fail_msg("EV %u has a place of plane %u", index, plane);
			usable += path_state(set, index) < PATH_ASSUMED_BAD;
		}
		assert_int_equal(usable, shape->per_plane - set->planes[plane].bad);
	}
}

static void a_backup_of_the_same_plane_takes_the_place_of_a_bad_ev(void **state)
{
	(void)state;
	struct transport_config config = with_backups(48);
	struct bench *bench = bench_open(&config, 1, 0, 3);
	struct path_set *set = path_of(bench);
	for (uint32_t i = 0; i < 8; i++) { // of plane 1, which has 8 backups
		assert_int_equal(path_retire(set, 2 * i + 1, 0), PATH_REPLACED);
		check_planes(set);
	}
	assert_int_equal(set->bad, 0);
	assert_int_equal(set->held, 8);
	uint32_t seen[48] = {0};
	for (uint32_t i = 0; i < 64; i++)
		seen[path_pick(set, 1, PATH_NO_EV).index]++;
	for (uint32_t index = 0; index < 48; index++)
		assert_int_equal(seen[index], index % 2 == 1 && index >= 16 ? 4 : 0);
	assert_int_equal(path_retire(set, 17, 0), PATH_CHANGED); // no backup is left there
	assert_int_equal(set->bad, 1);
	check_planes(set);
	bench_close(bench);
}

static void an_ev_that_is_back_takes_an_empty_place_or_waits(void **state)
{
	(void)state;
	struct transport_config config = with_backups(34); // one backup per plane
	struct bench *bench = bench_open(&config, 1, 0, 3);
	struct path_set *set = path_of(bench);
	assert_int_equal(path_retire(set, 3, 0), PATH_REPLACED); // by 33
	assert_int_equal(path_retire(set, 5, 0), PATH_CHANGED);	 // its place stays empty
	assert_int_equal(path_probed(set, 3, false, 1), PATH_CHANGED);
	assert_int_equal(set->bad, 0); // 3 has the place of 5
	check_planes(set);
	assert_int_equal(path_probed(set, 5, false, 1), PATH_CHANGED);
	assert_int_equal(path_retire(set, 3, 0), PATH_REPLACED); // 5 waited for this
	assert_int_equal(path_state(set, 5), PATH_GOOD);
	assert_int_equal(set->bad, 0);
	check_planes(set);
	bench_close(bench);
}

static void only_so_many_places_are_given_up(void **state)
{
	(void)state;
	for (uint32_t least = 1; least <= 32; least++) {
		struct transport_config config = with_backups(36);
		config.ev_min_active = least;
		struct bench *bench = bench_open(&config, 1, 0, 3);
		struct path_set *set = path_of(bench);
		for (uint32_t index = 0; index < 36; index++)
			path_retire(set, index, 0);
		assert_int_equal(32 - set->bad, least);
		check_planes(set);
		bench_close(bench);
	}
}

// Whatever happens to EVs, planes and counts agree.
static void chance_never_mixes_planes(void **state)
{
	(void)state;
	struct transport_config config = with_backups(48);
	struct bench *bench = bench_open(&config, 1, 0, 3);
	struct path_set *set = path_of(bench);
	struct rng rng = rng_of(5, RNG_TEST, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t index = rng_below(&rng, 48), dice = rng_below(&rng, 16);
		if (dice < 5)
			path_lose(set, index, 0);
		else if (dice < 10)
			path_probed(set, index, dice == 9, 1);
		else if (dice < 12)
			path_skip(set, index);
		else if (dice < 13)
			path_deny(set, index);
		else if (dice < 15)
			path_allow(set, index);
		else
			path_arrived(set, index);
		check_planes(set);
		for (uint32_t plane = 0; plane < 2; plane++) {
			if (path_is_closed(set, plane))
				continue;
			struct path_choice choice = path_pick(set, plane, PATH_NO_EV);
			assert_int_equal(choice.index % 2, plane);
			assert_int_not_equal(path_state(set, choice.index), PATH_DENIED);
		}
		assert_false(path_is_closed(set, 0) && path_is_closed(set, 1));
	}
	bench_close(bench);
}

static const uint32_t table[] = {9, 4000000000, 17, 4294967295, 0, 1, 70000, 123456789};

static struct transport_config explicit_config(void)
{
	struct transport_config config = bench_config();
	config.ev_count = 4;
	config.ev_universe = 8;
	config.ev_mode = EV_EXPLICIT;
	config.ev_values = table;
	return config;
}

static void explicit_values_are_those_of_the_table(void **state)
{
	(void)state;
	struct transport_config config = explicit_config();
	struct bench *bench = bench_open(&config, 2, 0, 3);
	for (uint32_t qpn = 0; qpn < 2; qpn++) {
		uint32_t ev;
		const struct path_set *set = &endpoint_qp(bench->ends[0], qpn)->path;
		for (uint32_t index = 0; index < 8; index++) {
			assert_int_equal(endpoint_ev(bench->ends[0], qpn, index, &ev), 0);
			assert_int_equal(ev, table[index]);
			assert_int_equal(path_index(set, table[index]), index);
		}
		assert_int_equal(endpoint_ev(bench->ends[0], qpn, 8, &ev), -ENOENT);
		assert_int_equal(path_index(set, 2), PATH_NO_EV);
		assert_int_equal(path_index(set, 4000000001), PATH_NO_EV);
	}
	bench_close(bench);
}

static void generated_values_lie_in_their_fields_and_differ(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.ev_universe = 40;
	config.ev_mode = EV_GENERATED;
	config.ev_field_count = 3;
	config.ev_fields[0] = (struct ev_field){.bits = 8, .max = 4};
	config.ev_fields[1] = (struct ev_field){.bits = 4, .max = 7};
	config.ev_fields[2] = (struct ev_field){.bits = 4, .max = 0}; // 40 values: all are taken
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct bench *bench = bench_open(&config, 1, 0, seed);
		uint64_t seen = 0;
		for (uint32_t index = 0; index < 40; index++) {
			uint32_t ev = path_value(path_of(bench), index);
			assert_in_range(ev >> 24, 0, 4);
			assert_in_range(ev >> 20 & 15, 0, 7);
			assert_int_equal(ev & 0xfffff, 0);
			seen |= UINT64_C(1) << ((ev >> 24) * 8 + (ev >> 20 & 15));
			assert_int_equal(path_index(path_of(bench), ev), index);
		}
		assert_int_equal(seen, (UINT64_C(1) << 40) - 1);
		bench_close(bench);
	}
}

// As many fields as there may be: nothing behind them counts.
static void all_fields_may_be_given(void **)
{
	struct transport_config config = bench_config();
	config.ev_mode = EV_GENERATED;
	config.ev_field_count = EV_FIELDS_MAX;
	for (uint32_t i = 0; i < EV_FIELDS_MAX; i++)
		config.ev_fields[i] = (struct ev_field){.bits = 4, .max = 8};
	config.ev_fields[0] = (struct ev_field){.bits = 4, .max = 2, .is_even = true};
	uint32_t firsts[3] = {0}, evs = ev_universe(&config);
	struct bench *bench = bench_open(&config, 1, 0, 1);
	for (uint32_t index = 0; index < evs; index++) {
		uint32_t ev = path_value(path_of(bench), index);
		assert_in_range(ev >> 28, 0, 2);
		firsts[ev >> 28]++;
		for (uint32_t bit = 0; bit < 28; bit += 4)
			assert_in_range(ev >> bit & 15, 0, 8);
	}
	for (uint32_t i = 0; i < 3; i++)
		assert_in_range(firsts[i], evs / 3 - config.planes, evs / 3 + config.planes);
	bench_close(bench);
}

// Of each plane every value of an even field comes equally often within one, and all EVs differ.
static void a_field_may_be_even(void **)
{
	struct transport_config config = bench_config();
	config.ev_mode = EV_GENERATED;
	config.ev_field_count = 3;
	uint32_t evs = ev_universe(&config), planes = config.planes, starts = 0;
	for (uint32_t most = 0; most < 20; most++) {
		config.ev_fields[0] = (struct ev_field){.bits = 11, .max = most, .is_even = true};
		config.ev_fields[1] = (struct ev_field){.bits = 16, .max = evs - 1};
		config.ev_fields[2] = (struct ev_field){.bits = 2, .max = 1, .is_even = true};
		struct bench *bench = bench_open(&config, 1, 0, most);
		uint32_t counts[20][PLANES_MAX] = {0}, last[PLANES_MAX] = {0},
			 of_plane = evs / planes;
		for (uint32_t index = 0; index < evs; index++) {
			uint32_t ev = path_value(path_of(bench), index);
			assert_in_range(ev >> 21, 0, most);
			assert_in_range(ev >> 5 & 0xffff, 0, evs - 1);
			counts[ev >> 21][index % planes]++;
			last[index % planes] += ev >> 3 & 3;
			assert_int_equal(path_index(path_of(bench), ev), index);
		}
		for (uint32_t plane = 0; plane < planes; plane++) {
			assert_in_range(last[plane], of_plane / 2, (of_plane + 1) / 2);
			for (uint32_t value = 0; value <= most; value++)
				assert_in_range(counts[value][plane], of_plane / (most + 1),
						of_plane / (most + 1) + 1);
		}
		starts += path_value(path_of(bench), 0) >> 21 ==
			path_value(&endpoint_qp(bench->ends[1], 0)->path, 0) >> 21;
		bench_close(bench);
	}
	assert_in_range(starts, 1, 12); // each endpoint begins elsewhere
}

static int creation(const struct transport_config *config, struct refusal *refusal)
{
	static uint8_t memory[1 << 20] __attribute__((aligned(64)));
	struct arena arena;
	struct endpoint *endpoint;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	return endpoint_create(&endpoint, &arena, config, 0, 1, 1, refusal);
}

// A field of all 32 bits: any limit fits, the largest too.
static void one_field_may_be_the_whole_value(void **)
{
	struct transport_config config = bench_config();
	struct refusal refusal;
	config.ev_mode = EV_GENERATED;
	config.ev_field_count = 1;
	const uint32_t limits[] = {31, 1u << 30, UINT32_MAX};
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		config.ev_fields[0] = (struct ev_field){.bits = 32, .max = limits[i]};
		struct bench *bench = bench_open(&config, 1, 0, 1);
		uint32_t most = 0;
		for (uint32_t index = 0; index < 32; index++) {
			uint32_t ev = path_value(path_of(bench), index);
			most = ev > most ? ev : most;
		}
		assert_in_range(most, limits[i] / 2, limits[i]);
		bench_close(bench);
	}
	config.ev_fields[0] = (struct ev_field){.bits = 31, .max = UINT32_MAX};
	assert_int_equal(creation(&config, &refusal), -EINVAL);
	assert_string_equal(refusal.text, "EV field 0: 4294967295 does not fit in 31 bits");
}

static void generated_ports_are_ephemeral_and_each_endpoint_draws_its_own(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.ev_bits = 16;
	config.ev_mode = EV_GENERATED;
	config.ev_field_count = 2;
	config.ev_fields[0] = (struct ev_field){.bits = 6, .max = 63};
	config.ev_fields[1] = (struct ev_field){.bits = 8, .max = 255};
	struct bench *bench = bench_open(&config, 1, 0, 1);
	uint32_t same = 0;
	for (uint32_t index = 0; index < 32; index++) {
		uint32_t own = path_value(path_of(bench), index);
		same += own == path_value(&endpoint_qp(bench->ends[1], 0)->path, index);
		assert_in_range(own, EV_PORT_FIRST, 65535);
	}
	assert_true(same < 4);
	bench_close(bench);
}

static void profiles_that_cannot_be_are_refused(void **state)
{
	(void)state;
	const uint32_t twice[] = {1, 2, 1, 4, 5, 6, 7, 8}; // number 0 and 2: on plane 0
	const uint32_t later[] = {1, 2, 3, 4, 3, 6, 7, 8}; // number 2 and 4
	const uint32_t repeated[] = {1, 1, 2, 2, 3, 3, 4, 4};
	struct transport_config configs[10];
	struct refusal refusal;
	for (uint32_t i = 0; i < 10; i++)
		configs[i] = explicit_config();
	assert_int_equal(creation(&configs[0], &refusal), 0);
	configs[0].ev_values = NULL;
	configs[1].ev_values = twice;
	configs[2].ev_bits = 16; // these are no ports
	configs[3].ev_universe = 7;
	configs[4].ev_universe = 2;
	configs[5].ev_min_active = 5;
	configs[6].probe_successes = 16;
	configs[7].ev_mode = EV_GENERATED; // no fields
	configs[8].ev_mode = EV_GENERATED;
	configs[8].ev_field_count = 1;
	configs[8].ev_fields[0] = (struct ev_field){.bits = 3, .max = 6}; // 7 values for 8
	configs[9].ev_mode = EV_AUTO;
	configs[9].ev_denied = twice;
	configs[9].ev_denied_count = 1;
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(creation(&configs[i], &refusal), -EINVAL);
	configs[1].ev_values = later;
	assert_int_equal(creation(&configs[1], &refusal), -EINVAL);
	assert_string_equal(refusal.text, "EVs 2 and 4 are both 3");
	assert_int_equal(creation(&configs[7], &refusal), -EINVAL);
	assert_string_equal(refusal.text, "0 EV fields: must be 1 to 8");
	configs[0] = explicit_config();
	configs[0].ev_denied = configs[0].ev_values; // all of them
	configs[0].ev_denied_count = 8;
	assert_int_equal(creation(&configs[0], &refusal), -EINVAL);
	configs[0].ev_values = configs[0].ev_denied = repeated; // each is on both planes
	assert_int_equal(creation(&configs[0], &refusal), -EINVAL);
	configs[0].ev_denied = repeated + 2; // the first one is left
	configs[0].ev_denied_count = 6;
	assert_int_equal(creation(&configs[0], &refusal), 0);
	configs[0].ev_denied = (const uint32_t[]){1, 2, 3, 4};
	configs[0].ev_denied_count = 4;
	assert_int_equal(creation(&configs[0], &refusal), -EINVAL);
	assert_string_equal(refusal.text, "8 of 8 entropy values are denied: none is left");
}

// Turns and the rings of recycled EVs are kept in 16 bits, and what does not know backups must not
// be told of them.
static void more_evs_than_a_way_to_choose_can_tell_apart_are_refused(void **state)
{
	(void)state;
	struct refusal refusal;
	struct transport_config config = bench_config();
	config.planes = 1;
	config.ev_count = 65536;
	assert_int_equal(creation(&config, &refusal), -EINVAL);
	config.planes = 2;
	config.path_policy = PATH_REPS;
	assert_int_equal(creation(&config, &refusal), -EINVAL);
	for (enum path_policy policy = PATH_ROTATE; policy < PATH_COUNT; policy++) {
		config = bench_config();
		config.path_policy = policy;
		config.ev_universe = 48;
		int wanted = policy == PATH_MRC ? 0 : -EINVAL;
		assert_int_equal(creation(&config, &refusal), wanted);
	}
	config.path_policy = PATH_MRC;
	config.kind = TRANSPORT_RC;
	assert_int_equal(creation(&config, &refusal), -EINVAL);
}

static void what_an_operator_denies_is_not_used_until_it_is_allowed(void **state)
{
	(void)state;
	const uint32_t denied[] = {9, 17}; // numbers 0 and 2, both on plane 0
	struct transport_config config = explicit_config();
	enum ev_state ev_state;
	config.ev_denied = denied;
	config.ev_denied_count = 2;
	struct bench *bench = bench_open(&config, 1, 0, 3);
	struct endpoint *endpoint = bench->ends[0];
	assert_int_equal(endpoint_ev_state(endpoint, 0, 9, &ev_state), 0);
	assert_int_equal(ev_state, EV_DENIED);
	for (uint32_t i = 0; i < 16; i++) // backups have their places
		assert_true(path_pick(path_of(bench), 0, PATH_NO_EV).index >= 4);
	assert_int_equal(endpoint_ev_deny(endpoint, 0), 0);	// number 4
	assert_int_equal(endpoint_ev_deny(endpoint, 70000), 0); // number 6: plane 0 has none left
	assert_true(path_is_closed(path_of(bench), 0));
	assert_int_equal(path_control_plane(path_of(bench), 0), 1); // answers take the other
	assert_int_equal(endpoint_ev_deny(endpoint, 5), -ENOENT);
	assert_int_equal(endpoint_ev_allow(endpoint, 5), -ENOENT);
	assert_int_equal(endpoint_ev_allow(endpoint, 17), 0);
	assert_false(path_is_closed(path_of(bench), 0));
	assert_int_equal(path_pick(path_of(bench), 0, PATH_NO_EV).index, 2);
	assert_int_equal(endpoint_ev_state(endpoint, 0, 17, &ev_state), 0);
	assert_int_equal(ev_state, EV_GOOD);
	check_planes(path_of(bench));
	for (uint32_t i = 1; i < 8; i += 2)
		assert_int_equal(endpoint_ev_deny(endpoint, table[i]), 0);
	assert_int_equal(endpoint_ev_deny(endpoint, 17), -EBUSY); // the last one
	assert_int_equal(endpoint_ev_allow(endpoint, table[1]), 0);
	assert_int_equal(path_of(bench)->shape->profile->denied_count, 6);
	assert_int_equal(endpoint_ev_deny(endpoint, table[1]), 0); // once more
	assert_int_equal(path_of(bench)->shape->profile->denied_count, 7);
	assert_int_equal(endpoint_ev_deny(endpoint, 17), -EBUSY);
	bench_close(bench);
}

static void evs_that_a_qp_draws_are_denied_by_their_value_too(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 2, 0, 3);
	uint32_t ev;
	enum ev_state ev_state;
	assert_int_equal(endpoint_ev(bench->ends[0], 1, 5, &ev), 0);
	assert_int_equal(endpoint_ev_deny(bench->ends[0], ev), 0);
	assert_int_equal(endpoint_ev_state(bench->ends[0], 1, ev, &ev_state), 0);
	assert_int_equal(ev_state, EV_DENIED);
	assert_int_equal(endpoint_ev_state(bench->ends[0], 0, ev, &ev_state), -ENOENT);
	path_retire(&endpoint_qp(bench->ends[0], 1)->path, 7, 0);
	assert_int_equal(endpoint_ev(bench->ends[0], 1, 7, &ev), 0);
	assert_int_equal(endpoint_ev_state(bench->ends[0], 1, ev, &ev_state), 0);
	assert_int_equal(ev_state, EV_ASSUMED_BAD);
	path_skip(&endpoint_qp(bench->ends[0], 1)->path, 9);
	assert_int_equal(endpoint_ev(bench->ends[0], 1, 9, &ev), 0);
	assert_int_equal(endpoint_ev_state(bench->ends[0], 1, ev, &ev_state), 0);
	assert_int_equal(ev_state, EV_GOOD); // that it loses a turn is not told
	bench_close(bench);
	config.path_policy = PATH_ROTATE;
	bench = bench_open(&config, 1, 0, 3);
	assert_int_equal(endpoint_ev_deny(bench->ends[0], ev), -EOPNOTSUPP);
	bench_close(bench);
}

// A backup that is in a skip is better than an empty place, and worse than a good one.
static void a_skipped_backup_is_the_last_that_takes_a_place(void **state)
{
	(void)state;
	struct transport_config config = with_backups(36); // of plane 1: 33 and 35
	struct bench *bench = bench_open(&config, 1, 0, 3);
	struct path_set *set = path_of(bench);
	assert_true(path_skip(set, 33));
	assert_int_equal(path_retire(set, 3, 0), PATH_REPLACED);
	assert_int_equal(set->ev_slots[3], 35);
	assert_int_equal(path_retire(set, 5, 0), PATH_REPLACED);
	assert_int_equal(set->ev_slots[5], 33);
	assert_int_equal(set->bad, 0);
	check_planes(set);
	bench_close(bench);
}

// Only probes bring back what is held bad: a mark that comes late does not.
static void a_mark_does_not_mend_a_bad_ev(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 1, 0, 3);
	struct path_set *set = path_of(bench);
	assert_int_equal(path_retire(set, 5, 0), PATH_CHANGED);
	assert_false(path_skip(set, 5));
	assert_int_equal(path_state(set, 5), PATH_ASSUMED_BAD);
	assert_int_equal(set->bad, 1);
	assert_true(path_skip(set, 7));
	assert_false(path_skip(set, 7)); // it is in one
	assert_int_equal(path_state(set, 7), PATH_SKIP);
	bench_close(bench);
}

static void what_lies_behind_the_tables_denies_nothing(void **)
{
	static const uint32_t values[] = {5, 6, 5}, denied[] = {5, 6};
	struct transport_config config = bench_config();
	struct refusal refusal;
	config.planes = 1;
	config.ev_mode = EV_EXPLICIT;
	config.ev_values = values;
	config.ev_denied = denied;
	config.ev_count = 2;
	config.ev_denied_count = 1;
	assert_int_equal(profile_check(&config, &refusal), 0);
	config.ev_denied_count = 2;
	assert_int_equal(profile_check(&config, &refusal), -EINVAL);
}

static void two_generated_values_come_in_either_order(void **)
{
	struct transport_config config = bench_config();
	uint32_t first[2] = {0};
	config.planes = 1;
	config.ev_count = 2;
	config.ev_mode = EV_GENERATED;
	config.ev_field_count = 1;
	config.ev_fields[0] = (struct ev_field){.bits = 8, .max = 1};
	for (uint64_t seed = 0; seed < 32; seed++) {
		struct bench *bench = bench_open(&config, 1, 0, seed);
		uint32_t ev;
		assert_int_equal(endpoint_ev(bench->ends[0], 0, 0, &ev), 0);
		first[ev != 0]++;
		bench_close(bench);
	}
	assert_in_range(first[0], 8, 24);
}
