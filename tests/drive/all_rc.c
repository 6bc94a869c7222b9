// SPDX-License-Identifier: Apache-2.0
// Worlds that run with RoCEv2 RC instead of MRC: any scenario does, by two assignments. They end
// with everything delivered once, counts that agree, a digest that only scenario and seed name; and
// a flow alone takes exactly as long as the closed form says. Random worlds:
//   WEFT_RC_FIRST=<seed> WEFT_RC_COUNT=1 <this program>

#include "../random_world.h"

#define RC "transport.kind=rc", "cc.algorithm=fixed"

#define FABRIC \
	"fabric: {topology: clos, nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2, link_rate: " \
	"100Gb/s, nic_delay: 350ns, trunk_delay: 700ns, switch_delay: 140ns}\n"
#define ENDPOINTS "cc: {algorithm: fixed}\ntransport: {kind: rc, evs: 32, rto: 80us}\n"

static const struct world_case {
	const char *name;
	const char *yaml;
} cases[] = {
	{"permutation",
	 "name: a\n" FABRIC ENDPOINTS "traffic: {kind: permutation, bytes: 300kB}\n"},
	{"loss",
	 "name: a\n" FABRIC ENDPOINTS "traffic: {kind: permutation, bytes: 100kB}\n"
	 "faults: [{kind: loss, at: all, probability: 1%}]\n"},
	{"link down",
	 "name: a\n" FABRIC ENDPOINTS "traffic: {kind: permutation, bytes: 200kB}\n"
	 "faults: [{kind: link_down, at: {t0: 1, plane: 0, up: 2}, from: 5us, until: 40us}]\n"},
	{"incast",
	 "name: a\n" FABRIC ENDPOINTS "queue: {bytes: 90000B, ecn_last_hop: true}\n"
	 "traffic: {kind: incast, senders: 12, bytes: 100kB}\n"},
	{"ring of four QPs",
	 "name: a\n" FABRIC "cc: {algorithm: fixed}\ntransport: {kind: rc, evs: 32, rto: 80us, "
	 "qps_per_connection: 4}\n"
	 "traffic: {kind: ring, collective: all_reduce, ranks: 32, bytes: 4MiB, channels: 2}\n"
	 "faults: [{kind: loss, at: all, probability: 0.2%}]\n"},
	{"flows of eight QPs",
	 "name: a\n" FABRIC "cc: {algorithm: fixed}\ntransport: {kind: rc, evs: 32, rto: 80us, "
	 "qps_per_connection: 8}\n"
	 "traffic: {kind: permutation, bytes: 300kB}\n"
	 "faults: [{kind: loss, at: all, probability: 0.2%}]\n"},
	{"racks",
	 "name: a\nfabric: {topology: clos, nics: 32, nics_per_host: 2, nics_per_t0: 8, t1_count: "
	 "4, planes: 2, link_rate: 100Gb/s}\n"
	 "scaleup: {rate: 450GB/s, delay: 900ns}\n" ENDPOINTS
	 "traffic: {kind: ring, collective: reduce_scatter, ranks: 32, bytes: 4MiB}\n"},
};
#define CASES (sizeof(cases) / sizeof(*cases))

static uint64_t sum(const uint64_t *values, uint32_t count)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < count; i++)
		all += values[i];
	return all;
}

// What must hold of a world of RC that ran to its end.
static void check_run(const struct rig *rig)
{
	const struct transport_counters *of = &rig->outcome->transport;
	const struct fabric_counters *fabric = &rig->outcome->fabric;
	const struct run *run = &rig->run;
	uint64_t answers = of->sacks_sent + of->nacks_sent + of->cnps_sent;
	assert_int_equal(run->end, RUN_DONE);
	assert_int_equal(run->held, 0);
	assert_int_equal(packet_pool_taken(&rig->world_instance.world.packets), 0);
	assert_int_equal(run->sent, of->data_packets + answers);
	assert_int_equal(run->sent,
			 run->delivered + sum(run->dropped, DROP_REASON_COUNT) +
				 sum(fabric->dropped, DROP_REASON_COUNT));
	assert_int_equal(run->delivered,
			 of->data_received + of->sacks_received + of->nacks_received +
				 of->cnps_received);
	assert_int_equal(of->data_packets - sum(of->rtx, RTX_REASON_COUNT),
			 of->data_received - of->duplicates - of->out_of_window);
	assert_int_equal(of->payload_bytes_new, of->payload_bytes_placed);
	assert_int_equal(fabric->trimmed + of->trims_received + of->rtx[RTX_HOLE], 0);
	assert_int_equal(of->qps_failed + of->no_qp + transport_refused(of), 0);
	assert_true(of->cnps_sent <= of->marks_received);
	assert_true((of->cnps_sent > 0) == (of->marks_received > 0));
	if (rig->world_instance.world.fabric.nics_per_host == 1) // other credits stay inside a host
		assert_int_equal(of->messages_sent,
				 of->messages_received + rig->outcome->credits_sent);
}

static uint64_t digest_of(const char *yaml, const char *const *sets)
{
	static struct rig rig;
	rig_run(&rig, yaml, sets);
	check_run(&rig);
	uint64_t digest = rig.run.digest;
	world_instance_free(&rig.world_instance);
	return digest;
}

static void every_shipped_scenario_runs_with_rc(void **state)
{
	static const char *const names[] = {
		"htsim-single-flow", "incast",	     "link-down",  "loss",
		"perm128-400g",	     "ring-barrier", "two-planes", "two-racks"};
	static struct rig rig;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		rig_run_shipped(&rig, names[i], (const char *const[]){RC, NULL});
		printf("%-18s %9.1f us, %llu data packets, %llu of them again\n", names[i],
		       (double)rig.outcome->end_ps / 1e6,
		       (unsigned long long)rig.outcome->transport.data_packets,
		       (unsigned long long)sum(rig.outcome->transport.rtx, RTX_REASON_COUNT));
		check_run(&rig);
		assert_string_equal(rig.world_instance.world.transport.cc.name, "fixed");
		world_instance_free(&rig.world_instance);
	}
}

static void two_runs_have_one_digest_and_another_seed_another(void **state)
{
	for (size_t i = 0; i < CASES; i++) {
		uint64_t first = digest_of(cases[i].yaml, NULL);
		printf("%-16s %016llx\n", cases[i].name, (unsigned long long)first);
		assert_int_equal(digest_of(cases[i].yaml, NULL), first);
		assert_int_not_equal(
			digest_of(cases[i].yaml, (const char *const[]){"seed=4711", NULL}), first);
		assert_int_not_equal(
			digest_of(cases[i].yaml,
				  (const char *const[]){"transport.payload=2048B", NULL}),
			first);
	}
}

static void the_length_of_the_window_changes_nothing(void **state)
{
	static const char *const windows[] = {"limits.window=175ns", "limits.window=333ns",
					      "limits.window=11ns"};
	for (size_t i = 0; i < CASES; i++) {
		uint64_t whole = digest_of(cases[i].yaml, NULL);
		for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++)
			assert_int_equal(
				digest_of(cases[i].yaml, (const char *const[]){windows[w], NULL}),
				whole);
	}
}

static uint64_t digest_in_shards(const char *yaml, uint32_t shards)
{
	static struct rig rig;
	static const struct sim_options options;
	struct world_instance *world_instance = &rig.world_instance;
	memset(&rig, 0, sizeof(rig));
	assert_int_equal(
		scenario_parse(&rig.scenario, "test", yaml, strlen(yaml), NULL, 0, &rig.refusal),
		0);
	world_instance->memory_bytes = rig.scenario.memory_bytes_max;
	world_instance->memory = memory_reserve(world_instance->memory_bytes);
	assert_non_null(world_instance->memory);
	arena_init(&world_instance->arena, world_instance->memory, world_instance->memory_bytes);
	assert_int_equal(world_build_shards(&world_instance->world, &world_instance->arena,
					    &rig.scenario, NULL, 0,
					    (struct world_shards){.count = shards}, &rig.refusal),
			 0);
	assert_int_equal(
		sim_create(&world_instance->sim, &world_instance->world, &options, &rig.refusal),
		0);
	sim_run(world_instance->sim, &rig.run);
	rig.outcome = world_instance->world.outcome;
	check_run(&rig);
	uint64_t digest = rig.run.digest;
	world_instance_free(world_instance);
	return digest;
}

static void the_number_of_shards_changes_nothing(void **state)
{
	for (size_t i = 0; i < CASES; i++)
		assert_int_equal(digest_in_shards(cases[i].yaml, 3),
				 digest_of(cases[i].yaml, NULL));
}

static void the_traffic_of_the_cases_is_what_their_names_say(void **state)
{
	static struct rig rig;
	rig_run(&rig, cases[1].yaml, NULL);
	assert_true(rig.run.dropped[DROP_RANDOM_LOSS] > 0);
	assert_true(rig.outcome->transport.rtx[RTX_NACK] > 0);
	assert_true(rig.outcome->transport.rtx[RTX_TIMEOUT] > 0);
	assert_true(rig.outcome->transport.out_of_window > 0);
	world_instance_free(&rig.world_instance);
	rig_run(&rig, cases[2].yaml, NULL);
	assert_true(rig.run.dropped[DROP_LINK_DOWN] > 0);
	assert_int_equal(rig.outcome->transport.paths_retired, 0); // RC knows no paths
	world_instance_free(&rig.world_instance);
	rig_run(&rig, cases[3].yaml, NULL);
	assert_true(rig.outcome->fabric.dropped[DROP_QUEUE_FULL] > 0); // trimming is on, not for RC
	assert_true(rig.outcome->transport.cnps_received > 0);
	world_instance_free(&rig.world_instance);
	rig_run(&rig, cases[4].yaml, NULL);
	assert_int_equal(rig.world_instance.world.qp_count,
			 4 * 2 * 2 * 32); // QPs, channels, ends, ranks
	world_instance_free(&rig.world_instance);
	rig_run(&rig, cases[5].yaml, NULL);
	assert_int_equal(rig.world_instance.world.qp_count, 8 * 2 * 32); // QPs, ends, flows
	assert_int_equal(rig.outcome->transport.messages_received, 8 * 32);
	assert_int_equal(rig.outcome->flow_ns.total, 32);
	assert_true(rig.outcome->transport.rtx[RTX_NACK] > 0);
	world_instance_free(&rig.world_instance);
}

// ---------------------------------------------------------------- closed form

// H links in store and forward, N packets: T = (N-1 + H-1) s + s_last + D + H s_ack + D back. The
// framing is that of htsim-single-flow; a NIC has one flow, so that its one path costs nothing.
static void a_single_flow_takes_exactly_as_long_as_the_closed_form(void **state)
{
	static struct rig rig;
	rig_run_shipped(&rig, "htsim-single-flow", (const char *const[]){RC, NULL});
	const ps_t byte_ps = 80, full = 4150 * byte_ps, way = 6 * PS_PER_US;
	const uint64_t bytes = 2000000, packets = (bytes + 4085) / 4086;
	ps_t last = (ps_t)(bytes - (packets - 1) * 4086 + 64) * byte_ps;
	ps_t expected = (ps_t)(packets - 1 + 5) * full + last + way + 6 * 64 * byte_ps + way;
	assert_int_equal(rig.outcome->flow_end_ps[0], expected);
	check_run(&rig);
	world_instance_free(&rig.world_instance);
}

// ---------------------------------------------------------------- QPs in turn

#define RING \
	"name: a\n" FABRIC "transport: {evs: 32, rto: 80us}\nqueue: {bytes: 4MiB, ecn: false}\n" \
	"traffic: {kind: ring, collective: reduce_scatter, ranks: 32, bytes: 16MiB, channels: " \
	"2}\n"

static ps_t ring_ps(bool is_rc, const char *qps, uint64_t *ret_messages)
{
	static struct rig rig;
	const char *const rc[] = {qps, RC, NULL}, *const mrc[] = {qps, NULL};
	rig_run(&rig, RING, is_rc ? rc : mrc);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_int_equal(rig.outcome->transport.rtx[RTX_TIMEOUT], 0);
	ps_t end = rig.outcome->end_ps;
	*ret_messages = rig.outcome->transport.messages_received;
	world_instance_free(&rig.world_instance);
	return end;
}

// More QPs are more paths: with one path each the ring gains, whose packets take all paths anyway
// does not.
static void more_qps_help_rc_and_not_mrc(void **state)
{
	uint64_t one, eight;
	ps_t rc_one = ring_ps(true, "transport.qps_per_connection=1", &one);
	ps_t rc_eight = ring_ps(true, "transport.qps_per_connection=8", &eight);
	assert_int_equal(one, eight);
	ps_t mrc_one = ring_ps(false, "transport.qps_per_connection=1", &one);
	ps_t mrc_eight = ring_ps(false, "transport.qps_per_connection=8", &eight);
	assert_int_equal(one, eight);
	printf("RC %.1f, with 8 QPs %.1f us; MRC %.1f, with 8 QPs %.1f us\n", (double)rc_one / 1e6,
	       (double)rc_eight / 1e6, (double)mrc_one / 1e6, (double)mrc_eight / 1e6);
	assert_true(rc_eight < rc_one * 9 / 10);
	assert_true(mrc_one < rc_eight);
	assert_true(llabs(mrc_eight - mrc_one) < mrc_one / 20);
}

// ---------------------------------------------------------------- random worlds

static void add_world(struct text *text, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_TEST, 7);
	uint32_t planes = 1u << pick(&rng, 0, 2), nics = 4 * pick(&rng, 2, 4);
	text->used = 0;
	add(text, "name: rc\nseed: %llu\n", (unsigned long long)seed);
	add(text, "fabric: {nics: %u, nics_per_t0: 4, t1_count: %u, planes: %u}\n", nics,
	    pick(&rng, 1, 4), planes);
	bool is_ring = pick(&rng, 0, 1) == 1;
	uint32_t evs = planes << pick(&rng, 0, 4), rto_us = pick(&rng, 60, 200);
	uint32_t mpr = 64u << pick(&rng, 0, 6), sack_bytes = pick(&rng, 1, 40000);
	add(text,
	    "cc: {algorithm: fixed}\ntransport: {kind: rc, evs: %u, rto: %uus, mpr: %u, "
	    "sack_bytes: %uB%s",
	    evs, rto_us, mpr, sack_bytes, is_ring ? "" : "}\n");
	if (is_ring)
		add(text, ", qps_per_connection: %u}\n", pick(&rng, 1, 5));
	if (pick(&rng, 0, 2) > 0)
		add(text, "queue: {bytes: %uB, ecn_last_hop: true}\n", pick(&rng, 9000, 90000));
	if (is_ring)
		add(text, "traffic: {kind: ring, collective: all_reduce, bytes: %uKiB}\n",
		    pick(&rng, 32, 1000));
	else if (pick(&rng, 0, 1) == 0)
		add(text, "traffic: {kind: permutation, bytes: %uB}\n", pick(&rng, 1, 300000));
	else
		add_incast(text, &rng, nics - 1);
	if (pick(&rng, 0, 1) == 0)
		add(text, "faults: [{kind: loss, at: all, probability: 0.%u%%}]\n",
		    pick(&rng, 1, 9));
	add_wire(text, &rng);
}

static void a_seed_is_the_same_world_with_every_compiler(void **)
{
	static struct text text;
	uint64_t digest = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		add_world(&text, seed);
		digest = text_digest(digest, &text);
	}
	assert_int_equal(digest, UINT64_C(0x3611a4d3a7c94fbe));
}

static void random_worlds_end_with_everything_delivered_once(void **state)
{
	static struct rig rig;
	static struct text text;
	uint64_t first = number("WEFT_RC_FIRST", 1), count = number("WEFT_RC_COUNT", 250);
	struct shares shares;
	uint32_t lossy = 0, marked = 0, duplicated = 0, shared = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		add_world(&text, seed);
		seed_begin("WEFT_RC", seed);
		rig_run(&rig, text.at, add_shares(&shares, seed, text.at));
		check_run(&rig);
		shared += shares.qps > 1 && rig.world_instance.world.flow_count > 0;
		lossy += rig.outcome->transport.rtx[RTX_NACK] > 0;
		marked += rig.outcome->transport.marks_received > 0;
		duplicated += rig.outcome->transport.duplicates > 0;
		world_instance_free(&rig.world_instance);
	}
	seeds_end();
	printf("%u worlds sent again after a NAK, %u had marks, %u duplicates, %u shared flows\n",
	       lossy, marked, duplicated, shared);
	if (count >= 250)
		assert_true(lossy > 20 && marked > 20 && duplicated > 5 && shared > 20);
}
