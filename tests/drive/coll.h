// SPDX-License-Identifier: Apache-2.0
// Collectives whose data frames carry: small worlds, all kinds, with loss, trims and hosts of
// several GPUs. Every rank must end with its result, all bytes of the program having come by frames
// or inside a host, and the run must be that of virtual time.
#pragma once

#include "../rig.h"

#include <weft/ports/payload_store.h>
#include <weft/workload/coll.h>

static const char coll_worlds[][320] = {
	// a T0 for each four, two planes
	"name: coll\nfabric: {nics: 12, nics_per_t0: 4, t1_count: 3, planes: 2}\n",
	// hosts of four, packets are lost
	"name: coll\nfabric: {nics: 16, nics_per_host: 4, nics_per_t0: 8, t1_count: 2}\n"
	"scaleup: {rate: 900GB/s}\n"
	"faults: [{kind: loss, at: all, probability: 0.3%}]\n",
	// short queues that trim, small packets
	"name: coll\nfabric: {nics: 8, nics_per_t0: 2, t1_count: 2}\n"
	"queue: {bytes: 30kB}\ntransport: {payload: 1024B}\n",
	// RoCEv2
	"name: coll\nfabric: {nics: 8, nics_per_host: 2, nics_per_t0: 4, t1_count: 2}\n"
	"scaleup: {rate: 450GB/s}\ncc: {algorithm: fixed}\ntransport: {kind: rc}\n"
	"faults: [{kind: loss, at: all, probability: 0.1%}]\n",
};

#define COLL_WORLDS (sizeof(coll_worlds) / sizeof(*coll_worlds))

struct coll_words {
	char list[4][64];
	const char *sets[9];
};

static void coll_say(struct coll_words *words, enum coll_kind kind, enum coll_algorithm algorithm)
{
	snprintf(words->list[0], 64, "traffic.collective=%s", coll_kind_name(kind));
	snprintf(words->list[1], 64, "traffic.algorithm=%s", coll_algorithm_name(algorithm));
	*words->sets = "traffic.kind=collective";
	words->sets[1] = words->list[0];
	words->sets[2] = words->list[1];
	words->sets[3] = "traffic.bytes=200004B";
	words->sets[4] = "traffic.chunk=12kB";
	words->sets[5] = "traffic.channels=2";
	words->sets[6] = "limits.packets=20000"; // frames of DPDK are many bytes
	words->sets[7] = coll_has_root(kind) ? "traffic.root=3" : NULL;
	words->sets[8] = NULL;
}

static uint64_t coll_digest(const char *world, const struct coll_words *words)
{
	struct rig rig;
	rig_run(&rig, world, words->sets);
	assert_int_equal(rig.run.end, RUN_DONE);
	uint64_t digest = rig.run.digest;
	world_instance_free(&rig.world_instance);
	return digest;
}

// The hooks of the payload store, with what goes through them counted.
static struct ports_options counted;
static uint64_t stored_bytes, moved_bytes;

static void count_stored(void *context, const struct dma_write *where, const uint8_t *payload)
{
	counted.store(context, where, payload);
	stored_bytes += where->bytes;
}

static void count_moved(void *context, const struct dma_write *where)
{
	counted.move(context, where);
	moved_bytes += where->bytes;
}

static void hook_counted(struct payload_store *payload_store, struct ports_options *ports)
{
	payload_store_hook(payload_store, ports);
	counted = *ports;
	ports->store = count_stored;
	ports->move = count_moved;
	stored_bytes = moved_bytes = 0;
}

// Fills the buffers of a world that was built, runs it, and looks at what came out of it.
static void coll_carry(struct rig *rig, struct payload_store *payload_store)
{
	struct coll_config config;
	uint64_t wrong = 0;
	scenario_collective(&config, &rig->scenario);
	assert_int_equal(
		payload_store_attach(payload_store, &rig->world_instance.world, 4, &rig->refusal),
		0);
	for (uint32_t rank = 0; rank < config.ranks; rank++)
		coll_fill(&config, rank, payload_store_buffer(payload_store, rank));
	sim_run(rig->world_instance.sim, &rig->run);
	assert_int_equal(rig->run.end, RUN_DONE);
	for (uint32_t rank = 0; rank < config.ranks; rank++)
		wrong += coll_wrong(&config, rank, payload_store_buffer(payload_store, rank));
	if (wrong > 0)
		fail_msg("%s, %s: %llu elements are wrong", coll_kind_name(config.kind),
			 coll_algorithm_name(config.algorithm), (unsigned long long)wrong);
}

// Runs one with data; false where this world has no such collective.
static bool coll_run(const char *world, enum coll_kind kind, enum coll_algorithm algorithm,
		     const struct ports_options *ports)
{
	struct sim_options options = {.lanes = 1, .ports = *ports};
	struct coll_words words;
	struct rig rig;
	struct payload_store *payload_store = payload_store_create();
	hook_counted(payload_store, &options.ports);
	coll_say(&words, kind, algorithm);
	if (rig_build_with(&rig, world, words.sets, &options) < 0) {
		payload_store_free(payload_store);
		if (strstr(rig.refusal.text, "power of two") == NULL &&
		    strstr(rig.refusal.text, "PAT needs") == NULL)
			fail_msg("refused: %s", rig.refusal.text);
		return false;
	}
	coll_carry(&rig, payload_store);
	const struct outcome_program *sent = &rig.world_instance.world.outcome->program;
	assert_int_equal(stored_bytes, sent->fabric_bytes);
	assert_int_equal(moved_bytes, sent->scaleup_bytes);
	assert_int_equal(rig.run.digest, coll_digest(world, &words));
	world_instance_free(&rig.world_instance);
	payload_store_free(payload_store);
	return true;
}

// All collectives of a world. How many there were.
static uint32_t coll_run_all(const char *world, const struct ports_options *ports)
{
	uint32_t count = 0;
	for (int kind = 0; kind < COLL_KIND_COUNT; kind++)
		for (int algorithm = 0; algorithm < COLL_ALGORITHM_COUNT; algorithm++)
			if (coll_is_known((enum coll_kind)kind, (enum coll_algorithm)algorithm))
				count += coll_run(world, (enum coll_kind)kind,
						  (enum coll_algorithm)algorithm, ports);
	return count;
}
