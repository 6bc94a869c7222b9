// SPDX-License-Identifier: Apache-2.0
// What trunks carry of what NICs send, of each kind of fabric.

#include <weft/fabric/fabric_capacity.h>

#include "fabric_walks.h"

#define LINE UINT64_C(100000000000)

static uint32_t share(struct rig *rig, const struct fabric_config *config)
{
	struct topology topology = built(rig, config);
	return topology_trunk_ppb(&topology, config);
}

// As much up as down; a quarter; twice as much.
static void a_clos_is_over_subscribed_by_its_trunks(void **state)
{
	struct fabric_config config = rig_clos();
	uint64_t up = (uint64_t)config.t1_count * config.bundle;
	config.trunk_rate_bps = config.link_rate_bps * config.nics_per_t0 / up;
	assert_int_equal(share(*state, &config), 0);
	config.trunk_rate_bps /= 4;
	assert_int_equal(share(*state, &config), 250000000);
	config.trunk_rate_bps *= 8;
	assert_int_equal(share(*state, &config), 0);
	struct topology twice = built(*state, &config);
	assert_int_equal(topology_tier_ppm(&twice, &config, 1), 2000000);
	assert_int_equal(topology_tier_ppm(&twice, &config, 2), 0); // no such tier
}

static void a_sample_is_as_its_whole_fabric(void **state)
{
	struct fabric_config config = rig_clos();
	uint64_t up = (uint64_t)config.t1_count * config.bundle;
	config.trunk_rate_bps = config.link_rate_bps * config.nics_per_t0 / up / 2;
	config.trunk_sample_kept = 1;
	config.trunk_sample_of = 2;
	assert_int_equal(share(*state, &config), 500000000);
}

static void the_narrowest_tier_of_a_fat_tree_counts(void **state)
{
	struct fabric_config config = rig_fat_tree(LINE);
	assert_int_equal(share(*state, &config), 0);
	config.cores = 4;
	assert_int_equal(share(*state, &config), 250000000);
	config.cores = 16;
	config.trunk_rate_bps = LINE / 2;
	assert_int_equal(share(*state, &config), 500000000);
}

static void graphs_are_told_where_trunks_have_one_side(void **state)
{
	struct fabric_config config = config_of(TOPOLOGY_DUMBBELL, 8);
	config.bundle = 4;
	assert_int_equal(share(*state, &config), 0);
	config.bundle = 1;
	assert_int_equal(share(*state, &config), 250000000);
	config = config_of(TOPOLOGY_TORUS, 8);
	config.nics_per_t0 = 1;
	config.torus[0] = 8;
	config.torus[1] = config.torus[2] = 1;
	assert_int_equal(share(*state, &config), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(a_clos_is_over_subscribed_by_its_trunks),
		WITH_RIG(a_sample_is_as_its_whole_fabric),
		WITH_RIG(the_narrowest_tier_of_a_fat_tree_counts),
		WITH_RIG(graphs_are_told_where_trunks_have_one_side),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
