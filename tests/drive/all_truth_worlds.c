// SPDX-License-Identifier: Apache-2.0
// Three drivers, one truth, in random worlds: each is run in virtual time, then with frames in
// memory and a stepped clock, then by several ranks, and must be the same in every count. A failing
// seed is run again by
//   WEFT_TRUTH_FIRST=<seed> WEFT_TRUTH_COUNT=1 <this program>

#include "../random_world.h"
#include "thread_ranks.h"
#include "truth.h"

// How often each kind of thing came: a generator that never makes trims tests nothing about them.
struct seen {
	uint32_t lossy, downs, damaged, doubled, held_back, trims, trims_last_hop, marks, nacks,
		timeouts, scaleups, ends;
	uint32_t gone_back, cnps; // RoCEv2 RC
};

static const struct traffic_range small = {2, 400, 200000};

static void add_fabric(struct text *text, struct rng *rng, uint32_t *ret_nics, uint32_t *ret_planes)
{
	uint32_t planes = 1u << pick(rng, 0, 2), per_t0 = 2u << pick(rng, 0, 1);
	uint32_t nics = per_t0 * pick(rng, 2, 4);
	bool has_hosts = pick(rng, 0, 2) == 0, is_tree = pick(rng, 0, 3) == 0;
	uint32_t gbps = 100u << pick(rng, 0, 3), nic_ns = pick(rng, 40, 900);
	uint32_t trunk_ns = pick(rng, 40, 1900), switch_ns = pick(rng, 0, 600);
	add(text, "fabric:\n  planes: %u\n  link_rate: %uGb/s\n  nic_delay: %uns\n", planes, gbps,
	    nic_ns);
	add(text, "  trunk_delay: %uns\n  switch_delay: %uns\n", trunk_ns, switch_ns);
	if (has_hosts)
		add(text, "  nics_per_host: 2\n");
	if (is_tree) {
		add(text,
		    "  topology: fat-tree\n  nics: 16\n  tor_nics: 2\n  pod_tors: 2\n"
		    "  pod_aggs: 2\n  cores: 4\n");
	} else {
		uint32_t t1s = pick(rng, 1, 3), bundle = pick(rng, 1, 2);
		add(text, "  nics: %u\n  nics_per_t0: %u\n  t1_count: %u\n  bundle: %u\n", nics,
		    per_t0, t1s, bundle);
	}
	if (has_hosts)
		add_scaleup(text, rng, 3000);
	*ret_nics = is_tree ? 16 : nics;
	*ret_planes = planes;
}

static void add_transport(struct text *text, struct rng *rng, uint32_t planes)
{
	static const char *const paths[] = {"rotate", "mrc", "single"};
	static const char *const choices[] = {"coin", "arriving", "newest"};
	uint32_t payload = pick(rng, 0, 2) == 0 ? pick(rng, 256, 4096) : 1024u << pick(rng, 0, 2);
	uint32_t evs = planes << pick(rng, 0, 5);
	const char *path = paths[pick(rng, 0, 2)];
	add(text, "transport:\n  payload: %uB\n  evs: %u\n  path: %s\n  sack_bytes: %uB\n", payload,
	    evs, path, pick(rng, 1, 20000));
	add(text, "  rto: %uus\n  rto_doublings: 12\n", pick(rng, 40, 200));
	add_acknowledgement(text, rng, true);
	if (pick(rng, 0, 4) == 0)
		add(text, "cc: {algorithm: fixed, window: %uB}\n", 2 * (payload + 162));
	if (pick(rng, 0, 3) == 0)
		return;
	bool trims = pick(rng, 0, 3) > 0;
	uint32_t bytes = pick(rng, 9000, 30000), control_bytes = pick(rng, 2000, 20000);
	add(text, "queue:\n  bytes: %uB\n  control_bytes: %uB\n  trim: %s\n  ecn_last_hop: %s\n",
	    bytes, control_bytes, trims ? "true" : "false", flag(rng));
	if (trims)
		add(text, "  trim_choice: %s\n", choices[pick(rng, 0, 2)]);
}

static void add_slow(struct text *text, struct rng *rng, uint32_t nics, uint32_t from)
{
	uint32_t nic = pick(rng, 0, nics - 1);
	const char *way = pick(rng, 0, 1) ? "up" : "both";
	uint32_t percent = pick(rng, 5, 99), until = from + pick(rng, 5, 60);
	add(text,
	    "  - {kind: slow, at: {nic: %u}, way: %s, rate: 0.%02u, from: %uus, until: %uus}\n",
	    nic, way, percent, from, until);
}

static void add_faults(struct text *text, struct rng *rng, uint32_t nics, uint32_t planes)
{
	uint32_t count = pick(rng, 0, 3);
	if (count > 0)
		add(text, "faults:\n");
	for (uint32_t i = 0; i < count; i++) {
		static const char *const kinds[] = {"loss", "corrupt", "duplicate"};
		uint32_t from = pick(rng, 0, 9), kind = pick(rng, 0, 6);
		if (kind < 3) {
			add(text, "  - {kind: %s, at: all, probability: 0.%03u}\n", kinds[kind],
			    pick(rng, 1, 30));
		} else if (kind == 3) {
			uint32_t permille = pick(rng, 1, 300), delay_ns = pick(rng, 1, 40000);
			add(text,
			    "  - {kind: reorder, at: all, probability: 0.%03u, delay: %uns}\n",
			    permille, delay_ns);
		} else if (kind == 4) {
			add_slow(text, rng, nics, from);
		} else {
			add_link_down(text, rng, nics, planes, from, 60);
		}
	}
	add_rare_faults(text, rng, count);
}

// How the frames look: of all that matters in them, every way.
static void add_frames(struct text *text, struct rng *rng)
{
	if (pick(rng, 0, 4) == 0) {
		add_wire(text, rng);
		return;
	}
	bool is_ipv4 = pick(rng, 0, 2) == 0;
	uint32_t port = pick(rng, 0, 1) ? 4791 : 4971;
	const char *lengths = pick(rng, 0, 1) ? "kept" : "rewritten", *has_checksum = flag(rng);
	add(text, "wire: {ip: %u, port: %u, trim_lengths: %s, udp_checksum: %s%s}\n",
	    is_ipv4 ? 4 : 6, port, lengths, has_checksum,
	    is_ipv4 || pick(rng, 0, 1) ? "" : ", ev: port-low");
}

// And the clock that it is run with.
static void add_world(struct text *text, uint64_t seed, struct truth_clock *clock)
{
	struct rng dice = rng_of(seed, RNG_TEST, 2), *rng = &dice;
	uint32_t nics, planes;
	text->used = 0;
	*clock = (struct truth_clock){.step_ns = pick(rng, 1, 3000)};
	clock->jump_every = pick(rng, 2, 1000);
	clock->jump_ns = pick(rng, 1, 50000000);
	add(text, "name: truth\nseed: %llu\n", (unsigned long long)seed);
	add_fabric(text, rng, &nics, &planes);
	add_transport(text, rng, planes);
	add_some_traffic(text, rng, nics, &small);
	add_faults(text, rng, nics, planes);
	add_frames(text, rng);
	add(text, "limits: {memory: 512MiB, packets: 30000, time: %uus}\n",
	    pick(rng, 0, 4) == 0 ? pick(rng, 1, 30) : 1000000);
}

static void note(struct seen *seen, const struct rig *rig)
{
	const struct outcome *outcome = rig->outcome;
	seen->lossy += rig->run.dropped[DROP_RANDOM_LOSS] > 0;
	seen->downs += rig->run.dropped[DROP_LINK_DOWN] > 0;
	seen->damaged += rig->run.dropped[DROP_BAD_FRAME] > 0;
	seen->doubled += rig->run.doubled > 0;
	seen->held_back += rig->run.held_back > 0;
	seen->trims += outcome->fabric.trimmed > 0;
	seen->trims_last_hop += outcome->fabric.trimmed_last_hop > 0;
	seen->marks += outcome->fabric.marked > 0;
	seen->nacks += outcome->transport.rtx[RTX_NACK] > 0;
	seen->timeouts += outcome->transport.rtx[RTX_TIMEOUT] > 0;
	seen->scaleups += rig->scenario.scaleup.rate_bps > 0;
	seen->ends += rig->run.end == RUN_TIME;
}

// The same world once more, by two to four ranks.
static void run_ranks(const char *name, const char *yaml, const char *const *sets, uint64_t seed,
		      const struct rig *truth)
{
	static struct rig rigs[4];
	uint32_t count = 2 + (uint32_t)(seed % 3);
	char called[64];
	snprintf(called, sizeof(called), "%s, %u ranks", name, count);
	thread_ranks_run(rigs, yaml, sets, count);
	truth_same(called, &rigs[0], truth);
	thread_ranks_free(rigs, count);
}

static void run_seed(uint64_t seed, struct seen *seen)
{
	static struct rig truth, rig;
	static struct text text;
	char name[32];
	struct truth_clock clock;
	const struct sim_options options = {.ports.kind = PORTS_MEMORY,
					    .pace = {.is_on = true,
						     .dilation_milli = 1000,
						     .clock = truth_clock_read,
						     .clock_context = &clock}};
	add_world(&text, seed, &clock);
	const char *const rc[] = {"transport.kind=rc", "cc.algorithm=fixed",
				  NULL}; // every fourth world
	const char *const *sets = seed % 4 == 0 ? rc : NULL;
	snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
	seed_begin("WEFT_TRUTH", seed);
	if (getenv("WEFT_TRUTH_PRINT") != NULL)
		puts(text.at);
	rig_run(&truth, text.at, sets);
	assert_true(truth.run.end == RUN_DONE || truth.run.end == RUN_TIME);
	rig_run_with(&rig, text.at, sets, &options);
	truth_same(name, &rig, &truth);
	truth_frames(name, &rig);
	run_ranks(name, text.at, sets, seed, &truth);
	note(seen, &rig);
	seen->gone_back += sets != NULL && rig.outcome->transport.rtx[RTX_NACK] > 0;
	seen->cnps += rig.outcome->transport.cnps_received > 0;
	world_instance_free(&truth.world_instance);
	world_instance_free(&rig.world_instance);
}

static void a_seed_is_the_same_world_with_every_compiler(void **)
{
	static struct text text;
	struct truth_clock clock;
	uint64_t digest = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		add_world(&text, seed, &clock);
		digest = text_digest(digest, &text);
	}
	assert_int_equal(digest, UINT64_C(0xadf2c0599b74859e));
}

static void random_worlds_are_the_same_with_frames(void **state)
{
	uint64_t first = number("WEFT_TRUTH_FIRST", 1), count = number("WEFT_TRUTH_COUNT", 120);
	struct seen seen = {0};
	for (uint64_t seed = first; seed < first + count; seed++)
		run_seed(seed, &seen);
	seeds_end();
	printf("%llu worlds from seed %llu; with loss %u, links down %u, damage %u, copies %u, "
	       "held back %u, trims %u, at the last hop %u, marks %u, NACKs %u, timeouts %u, "
	       "scale-up %u, an early end %u; RC going back %u, with CNPs %u\n",
	       (unsigned long long)count, (unsigned long long)first, seen.lossy, seen.downs,
	       seen.damaged, seen.doubled, seen.held_back, seen.trims, seen.trims_last_hop,
	       seen.marks, seen.nacks, seen.timeouts, seen.scaleups, seen.ends, seen.gone_back,
	       seen.cnps);
	if (count < 100)
		return;
	assert_true(seen.lossy > 5 && seen.downs > 5 && seen.trims > 5 && seen.trims_last_hop > 5);
	assert_true(seen.damaged > 5 && seen.doubled > 5 && seen.held_back > 5);
	assert_true(seen.marks > 5 && seen.nacks > 5 && seen.timeouts > 5 && seen.scaleups > 5);
	assert_true(seen.ends > 5 && seen.gone_back > 5 && seen.cnps > 5);
}
