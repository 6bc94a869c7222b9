// SPDX-License-Identifier: Apache-2.0
// Collectives with data through frames in memory; see coll.h.

#include "coll.h"

static void every_rank_has_its_result(void **state)
{
	static const uint32_t counts[COLL_WORLDS] = {22, 22, 24, 22};
	const struct ports_options ports = {.kind = PORTS_MEMORY};
	(void)state;
	for (size_t i = 0; i < COLL_WORLDS; i++)
		assert_int_equal(coll_run_all(coll_worlds[i], &ports), counts[i]);
}

// A frame that says something else than it did, behind the ICRC: data are wrong, nothing else is.
static void spoil(void *context, const struct cable_plan *cable, ps_t at, uint8_t *bytes,
		  uint32_t length)
{
	uint32_t *left = context;
	(void)cable;
	(void)at;
	if (length > 4000 && *left > 0 && --*left == 0)
		bytes[length / 2] ^= 1;
}

// The ICRC finds it, and a repair brings what was meant.
static void a_flipped_bit_is_repaired(void **state)
{
	uint32_t left = 20;
	const struct ports_options ports = {.kind = PORTS_MEMORY,
					    .watch = spoil,
					    .watch_context = &left,
					    .watch_changes = true};
	struct sim_options options = {.lanes = 1, .ports = ports};
	struct coll_words words;
	struct rig rig;
	struct payload_store *payload_store = payload_store_create();
	(void)state;
	payload_store_hook(payload_store, &options.ports);
	coll_say(&words, COLL_ALL_REDUCE, COLL_RING);
	assert_int_equal(rig_build_with(&rig, coll_worlds[0], words.sets, &options), 0);
	coll_carry(&rig, payload_store);
	assert_int_equal(left, 0);
	assert_int_equal(rig.run.dropped[DROP_BAD_FRAME], 1);
	world_instance_free(&rig.world_instance);
	payload_store_free(payload_store);
}

static void elements_are_not_cut(void **state)
{
	struct sim_options options = {.lanes = 1, .ports = {.kind = PORTS_MEMORY}};
	struct payload_store *payload_store = payload_store_create();
	struct coll_words words;
	struct rig rig;
	(void)state;
	payload_store_hook(payload_store, &options.ports);
	coll_say(&words, COLL_ALL_REDUCE, COLL_RING);
	words.sets[6] = "transport.payload=1026B";
	assert_int_equal(rig_build_with(&rig, coll_worlds[0], words.sets, &options), 0);
	assert_true(payload_store_attach(payload_store, &rig.world_instance.world, 4,
					 &rig.refusal) < 0);
	assert_non_null(strstr(rig.refusal.text, "cut elements of 4"));
	world_instance_free(&rig.world_instance);
	payload_store_free(payload_store);
}
