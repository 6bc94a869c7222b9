// SPDX-License-Identifier: Apache-2.0
// Worlds whose NICs have fewer contexts than QPs: they come to their end with all work done, a
// context for each is the same as no limit, and a run is the same whenever it is done.

#include "../rig.h"

// Rings in which every NIC sends and receives on several QPs, and an incast of many flows.
static const char ring[] = "name: ring\n"
			   "fabric: {nics: 16, nics_per_t0: 8, t1_count: 4, planes: 2}\n"
			   "transport: {evs: 64, mpr: 512, contexts: %s, qps_per_connection: 2}\n"
			   "traffic: {kind: ring, ranks: 16, bytes: 1MiB, channels: 4}\n";
static const char incast[] = "name: incast\n"
			     "fabric: {nics: 16, nics_per_t0: 8, t1_count: 4, planes: 2}\n"
			     "transport: {evs: 64, mpr: 512, contexts: %s}\n"
			     "traffic: {kind: incast, senders: 15, bytes: 200kB}\n";
static const char lossy[] = "name: lossy\n"
			    "fabric: {nics: 16, nics_per_t0: 8, t1_count: 4, planes: 2}\n"
			    "transport: {evs: 64, mpr: 512, contexts: %s}\n"
			    "traffic: {kind: ring, ranks: 16, bytes: 256KiB, channels: 4}\n"
			    "faults: [{kind: loss, at: all, probability: 0.5%%}]\n";

static void run(struct rig *rig, const char *form, const char *contexts)
{
	char text[1024];
	snprintf(text, sizeof(text), form, contexts);
	rig_run(rig, text, NULL);
	assert_int_equal(rig->run.end, RUN_DONE);
	assert_int_equal(rig->outcome->transport.qps_failed, 0);
}

static void all_work_is_done_with_few_contexts(void **state)
{
	static const char *const forms[] = {ring, incast, lossy};
	static const char *const counts[] = {"2", "3", "5"};
	static struct rig rig;
	for (uint32_t form = 0; form < 3; form++) {
		for (uint32_t i = 0; i < 3; i++) {
			run(&rig, forms[form], counts[i]);
			const struct transport_counters *counters = &rig.outcome->transport;
			assert_int_equal(counters->messages_sent > 0, true);
			assert_true(counters->contexts_given > 0);
			assert_true(counters->contexts_taken + counters->posts_deferred +
					    counters->packets_deferred >
				    0);
			world_instance_free(&rig.world_instance);
		}
	}
}

static void a_context_for_each_is_as_no_limit(void **state)
{
	static struct rig rig;
	run(&rig, ring, "all");
	uint64_t digest = rig.run.digest;
	assert_int_equal(rig.outcome->transport.contexts_given, 0);
	world_instance_free(&rig.world_instance);
	run(&rig, ring, "16");
	assert_int_equal(rig.run.digest, digest);
	assert_int_equal(rig.outcome->transport.contexts_given, 0);
	world_instance_free(&rig.world_instance);
}

static void the_same_run_twice_is_the_same(void **state)
{
	static struct rig rig;
	run(&rig, lossy, "2");
	uint64_t digest = rig.run.digest;
	world_instance_free(&rig.world_instance);
	run(&rig, lossy, "2");
	assert_int_equal(rig.run.digest, digest);
	world_instance_free(&rig.world_instance);
}
