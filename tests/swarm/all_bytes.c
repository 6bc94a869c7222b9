// SPDX-License-Identifier: Apache-2.0
// Random worlds with frames in memory and real buffers at both ends. The checkers, beside those
// inside every run: each message completes exactly once, with the right bytes in the right place
// and none beside, or its work request is flushed, once, because its connection failed; nothing is
// left in a pool; a world goes on as soon as its timers allow when its faults are over; where
// nothing is lost, trimmed or overtaken nothing is sent again; the same world without frames, and
// with other windows, is the same. A failing seed is run again by
//   WEFT_BYTES_FIRST=<seed> WEFT_BYTES_COUNT=1 <this program>

#include "../drive/truth.h"
#include "../random_world.h"
#include "../sanitized.h"
#include "bytes.h"
#include "waits.h"

// What is known of a world before it runs.
struct exchange {
	uint32_t nics, planes, t0s, t1s;
	bool is_calm; // without faults, and queues that hold everything
	bool is_poor; // few packets: the run may end at that limit
	struct waits waits;
	uint32_t path_retry_us;
	uint32_t settled_us; // when the last fault has ended and all messages were posted
	bool has_end;	     // no fault lasts for good
};

// What a run showed, to know that the worlds are worth it.
struct seen {
	uint32_t damaged, doubled, held_back, lossy, downs, trims, failed, calm, wraps, poor, rings,
		shared;
};

// ---------------------------------------------------------------- worlds

static void add_fabric(struct text *text, struct rng *rng, struct exchange *plan)
{
	static const char *const rates[] = {"25Gb/s", "100Gb/s", "400Gb/s", "800Gb/s"};
	uint32_t per_t0 = 2u << pick(rng, 0, 1);
	plan->planes = 1u << pick(rng, 0, 2);
	plan->t0s = pick(rng, 2, 4);
	plan->t1s = pick(rng, 1, 3);
	plan->nics = per_t0 * plan->t0s;
	const char *rate = rates[pick(rng, 0, 3)];
	uint32_t nic_ns = pick(rng, 40, 900), trunk_ns = pick(rng, 40, 1900);
	uint32_t switch_ns = pick(rng, 0, 600), bundle = pick(rng, 1, 2);
	add(text,
	    "fabric: {planes: %u, link_rate: %s, nic_delay: %uns, trunk_delay: %uns, "
	    "switch_delay: %uns, nics: %u, nics_per_t0: %u, t1_count: %u, bundle: %u}\n",
	    plan->planes, rate, nic_ns, trunk_ns, switch_ns, plan->nics, per_t0, plan->t1s, bundle);
}

static void add_queue(struct text *text, struct rng *rng, const struct exchange *plan)
{
	static const char *const choices[] = {"coin", "arriving", "newest"};
	bool trims = pick(rng, 0, 3) > 0;
	if (plan->is_calm) {
		add(text, "queue: {bytes: 64MB, control_bytes: 64MB, ecn: %s}\n", flag(rng));
		return;
	}
	add(text, "queue:\n  trim: %s\n", trims ? "true" : "false");
	if (trims)
		add(text, "  trim_choice: %s\n", choices[pick(rng, 0, 2)]);
	if (pick(rng, 0, 1) == 0)
		add_queue_bytes(text, rng, 40000, 20000);
}

// Entropy values that scenarios of path mrc may ask for; keys of section transport. Drawn without
// moving the dice: the rest stays as it was.
static void add_paths(struct text *text, const struct rng *dice, struct exchange *plan,
		      uint32_t evs)
{
	static const char *const idle[] = {"auto", "false", "true"};
	struct rng rng = rng_of(dice->state, RNG_TEST, 9);
	uint32_t universe = evs + plan->planes * (pick(&rng, 0, 1) ? pick(&rng, 1, 4) : 0);
	uint32_t successes = pick(&rng, 1, 3);
	add(text, "  path_retry: %uus\n  universe: %u\n", plan->path_retry_us, universe);
	add(text, "  probe_successes: %u\n  probe_idle: %s\n", successes, idle[pick(&rng, 0, 2)]);
	if (pick(&rng, 0, 2) == 0)
		add(text, "  min_active: %u\n", pick(&rng, 1, evs));
	plan->path_retry_us *= successes;
	if (universe > 40 || pick(&rng, 0, 2) > 0)
		return;
	add(text, "  ev_profile: explicit\n  ev_values: [");
	for (uint32_t i = 0; i < universe; i++) // all different, and good as ports
		add(text, "%s{ev: %u}", i == 0 ? "" : ", ", 49152 + i * 331 % 16384);
	add(text, "]\n");
}

// How the two ends talk; keys of section transport.
static void add_words(struct text *text, struct rng *rng, uint32_t mpr)
{
	add(text, "  completion: %s\n", pick(rng, 0, 2) ? "ack" : "sack");
	add(text, "  refused: %s\n", pick(rng, 0, 1) ? "silent" : "nak");
	add(text, "  rtt: %s\n", pick(rng, 0, 1) ? "local" : "stamp");
	add(text, "  service_time: %s\n", flag(rng));
	if (mpr >= 128) // it is offered in units of 128
		add(text, "  dynamic_mpr: %s\n", flag(rng));
}

static void add_transport(struct text *text, struct rng *rng, struct exchange *plan)
{
	static const char *const paths[] = {"rotate", "mrc", "mrc", "single"};
	uint32_t mpr = 64u << pick(rng, 0, 4);
	const char *path = paths[pick(rng, 0, 3)];
	uint32_t payload = pick(rng, 0, 2) == 0 ? pick(rng, 256, 4096) : 1024u << pick(rng, 0, 2);
	plan->waits.rto_us = plan->is_calm ? 50000 : pick(rng, 40, 200);
	bool is_short = pick(rng, 0, 3) == 0; // some connections fail
	plan->waits.rto_linear = pick(rng, 1, is_short ? 2 : 7);
	plan->waits.rto_doublings = is_short ? pick(rng, 0, 1) : pick(rng, 2, 9);
	plan->path_retry_us = pick(rng, 20, 400);
	uint32_t sack_bytes = pick(rng, 1, 20000), evs = plan->planes << pick(rng, 0, 5);
	add(text,
	    "transport:\n  payload: %uB\n  evs: %u\n  path: %s\n  mpr: %u\n  sack_bytes: %uB\n",
	    payload, evs, path, mpr, sack_bytes);
	add(text, "  rto: %uus\n  rto_linear: %u\n  rto_doublings: %u\n", plan->waits.rto_us,
	    plan->waits.rto_linear, plan->waits.rto_doublings);
	if (plan->is_calm)
		add(text, "  hole_age: off\n");
	else if (pick(rng, 0, 1) == 0)
		add(text, "  hole_age: %uus\n", pick(rng, 5, 60));
	if (strcmp(path, "mrc") == 0)
		add_paths(text, rng, plan, evs);
	add(text, "  first_psn: %u\n",
	    pick(rng, 0, 1) ? 0xffffff - pick(rng, 0, 60) : pick(rng, 0, 0xffffff));
	add_words(text, rng, mpr);
	if (pick(rng, 0, 2) == 0)
		add(text, "cc: {algorithm: fixed, window: %uB}\n", 2 * (payload + 162));
}

static void add_place(struct text *text, struct rng *rng, const struct exchange *plan)
{
	uint32_t nic = pick(rng, 0, plan->nics - 1), plane = pick(rng, 0, plan->planes - 1);
	switch (pick(rng, 0, 5)) {
	case 0:
		add(text, "all");
		break;
	case 1:
		add(text, "{plane: %u}", plane);
		break;
	case 2:
		add(text, "{nic: %u}", nic);
		break;
	case 3:
		add(text, "{t0: %u, plane: %u}", pick(rng, 0, plan->t0s - 1), plane);
		break;
	case 4:
		add(text, "{t1: %u, plane: %u}", pick(rng, 0, plan->t1s - 1), plane);
		break;
	default:
		add(text, "{nic: %u, plane: %u}", nic, plane);
	}
}

static void add_fault(struct text *text, struct rng *rng, struct exchange *plan)
{
	static const char *const kinds[] = {"link_down", "flap",      "loss",
					    "corrupt",	 "duplicate", "reorder"};
	uint32_t kind = pick(rng, 0, 5), from = pick(rng, 0, 30), until = from + pick(rng, 5, 150);
	add(text, "  - {kind: %s, from: %uus, at: ", kinds[kind], from);
	add_place(text, rng, plan);
	if (kind >= 2)
		add(text, ", probability: 0.%03u", pick(rng, 1, kind == 5 ? 300 : 60));
	if (kind == 5)
		add(text, ", delay: %uns", pick(rng, 1, 30000));
	if (kind == 1) {
		add(text, ", down: %uus", pick(rng, 1, 20));
		add(text, ", up: %uus", pick(rng, 1, 40));
	}
	if (pick(rng, 0, 15) == 0) {
		plan->has_end = false;
		add(text, "}\n");
		return;
	}
	add(text, ", until: %uus}\n", until);
	if (until > plan->settled_us)
		plan->settled_us = until;
}

static void add_faults(struct text *text, struct rng *rng, struct exchange *plan)
{
	uint32_t count = plan->is_calm ? 0 : pick(rng, 0, 4);
	if (count > 0)
		add(text, "faults:\n");
	for (uint32_t i = 0; i < count; i++)
		add_fault(text, rng, plan);
}

static void add_frames(struct text *text, struct rng *rng)
{
	static const char *const entropies[] = {"port", "stev", "srv6"};
	bool is_ipv4 = pick(rng, 0, 2) == 0;
	const char *entropy = entropies[pick(rng, 0, 2)];
	uint32_t port = pick(rng, 0, 1) ? 4791 : 4971;
	const char *lengths = pick(rng, 0, 1) ? "kept" : "rewritten", *has_checksum = flag(rng);
	// drawn without moving the dice: the rest stays as it was
	bool has_srh = entropy == entropies[2] && rng_mix(rng->state ^ 0x737268) & 1;
	add(text, "wire: {ip: %u, entropy: %s, port: %u, trim_lengths: %s, udp_checksum: %s%s%s}\n",
	    is_ipv4 ? 4 : 6, entropy, port, lengths, has_checksum, has_srh ? ", srh: true" : "",
	    is_ipv4 || pick(rng, 0, 1) ? "" : ", ev: port-low");
}

static void add_world(struct text *text, uint64_t seed, struct exchange *plan)
{
	static const struct traffic_range range = {2, 200, 80000};
	struct rng rng = rng_of(seed, RNG_TEST, 7);
	text->used = 0;
	*plan = (struct exchange){.has_end = true, .settled_us = 20};
	plan->is_calm = pick(&rng, 0, 3) == 0;
	plan->is_poor = pick(&rng, 0, 15) == 0;
	add(text, "name: bytes\nseed: %llu\n", (unsigned long long)seed);
	add_fabric(text, &rng, plan);
	add_queue(text, &rng, plan);
	add_transport(text, &rng, plan);
	add_some_traffic(text, &rng, plan->nics, &range);
	add_faults(text, &rng, plan);
	add_frames(text, &rng);
	add(text, "limits: {memory: 256MiB, time: 90s, packets: %u}\n",
	    plan->is_poor ? pick(&rng, 64, 300) : 40000);
}

// ---------------------------------------------------------------- progress

// The longest time without a new placement after all is settled, on the clock of frames.
struct progress {
	struct memory memory;
	ps_t now, last, gap, gap_from, settled;
};

static void watch_time(void *context, const struct cable_plan *cable, ps_t at, uint8_t *bytes,
		       uint32_t length)
{
	struct progress *progress = context;
	progress->now = ps_max(progress->now, at);
}

static void note_gap(struct progress *progress, ps_t now)
{
	ps_t from = ps_max(progress->last, progress->settled);
	if (now > progress->settled && now - from > progress->gap) {
		progress->gap = now - from;
		progress->gap_from = from;
	}
	progress->last = ps_max(progress->last, now);
}

static void store(void *context, const struct dma_write *where, const uint8_t *payload)
{
	struct progress *progress = context;
	memory_store(&progress->memory, where, payload);
	note_gap(progress, progress->now);
}

static void fill(void *context, const struct dma_write *where, uint8_t *ret)
{
	struct progress *progress = context;
	memory_fill(&progress->memory, where, ret);
}

// The longest wait that may have begun by then: the sum of those before it fits.
static uint64_t longest_wait_us(const struct exchange *plan, uint64_t by_us)
{
	uint64_t sum = 0, wait = plan->waits.rto_us;
	uint32_t waits = plan->waits.rto_linear + plan->waits.rto_doublings;
	for (uint32_t n = 0; n < waits && sum <= by_us; n++) {
		wait = wait_us(&plan->waits, n);
		sum += wait;
	}
	return wait;
}

static void check_progress(const struct rig *rig, const struct exchange *plan,
			   struct progress *progress)
{
	note_gap(progress, rig->outcome->end_ps);
	// Queues that drop go on losing when no fault does: who waits together sends together.
	bool is_lossy = rig->outcome->fabric.dropped[DROP_QUEUE_FULL] > 0;
	uint64_t by_us = is_lossy ? (uint64_t)(progress->gap_from / PS_PER_US) : plan->settled_us;
	// a wait in progress, another for what is lost once more in full queues, a path's trial,
	// and what is on its way
	uint64_t bound_us = 2 * longest_wait_us(plan, by_us) + 2 * plan->waits.rto_us +
		plan->path_retry_us +
		(uint64_t)(20 * rig->world_instance.world.topology.base_rtt_ps / PS_PER_US) + 100;
	if (!plan->has_end || rig->run.end != RUN_DONE)
		return;
	if ((uint64_t)(progress->gap / PS_PER_US) > bound_us)
		fail_msg("no progress for %.3f us, but timers end after %llu us",
			 (double)progress->gap / 1e6, (unsigned long long)bound_us);
}

// ---------------------------------------------------------------- what must be

static void check_calm(const struct rig *rig, const struct exchange *plan)
{
	const struct transport_counters *transport = &rig->outcome->transport;
	if (rig->outcome->fabric.trimmed > 0 || rig->run.end != RUN_DONE)
		return;
	for (enum rtx_reason reason = 0; reason < RTX_REASON_COUNT; reason++)
		if (transport->rtx[reason] > 0)
			fail_msg("%llu packets sent again (%u), but none was lost",
				 (unsigned long long)transport->rtx[reason], reason);
	if (rig->outcome->end_ps >= plan->waits.rto_us * PS_PER_US)
		fail_msg("the last message took %.3f us, as if one had waited for a timer",
			 (double)rig->outcome->end_ps / 1e6);
}

static void check_end(const struct rig *rig, const struct exchange *plan)
{
	const struct transport_counters *transport = &rig->outcome->transport;
	bool has_failed = transport->qps_failed > 0;
	if (plan->is_poor && rig->run.end == RUN_LIMIT)
		return;
	// a ring is done before its last credits are acknowledged: nobody waits for those
	bool is_late = rig->world_instance.world.flow_count == 0 && rig->run.end == RUN_DONE;
	check_run_end(rig, has_failed && !is_late ? RUN_STALLED : RUN_DONE);
	if (!has_failed)
		assert_int_equal(transport->payload_bytes_new, transport->payload_bytes_placed);
	uint64_t flows = rig->world_instance.world.flow_count, ended = 0;
	uint64_t shares = flows * rig->scenario.qps_per_connection;
	if (flows == 0)
		return;
	for (uint64_t i = 0; i < flows; i++)
		ended += rig->outcome->flow_end_ps[i] > 0;
	if (transport->messages_sent + transport->messages_flushed != shares)
		fail_msg("%llu messages: %llu completed, %llu flushed", (unsigned long long)shares,
			 (unsigned long long)transport->messages_sent,
			 (unsigned long long)transport->messages_flushed);
	// a flow ends when all its shares do
	assert_true(ended * rig->scenario.qps_per_connection <= transport->messages_sent);
	assert_true(shares > flows || ended == transport->messages_sent);
	assert_true(has_failed || ended == flows);
	assert_true(transport->messages_received >= transport->messages_sent);
}

static void note(struct seen *seen, const struct rig *rig, const struct exchange *plan)
{
	const struct outcome *outcome = rig->outcome;
	seen->damaged += rig->run.dropped[DROP_BAD_FRAME] > 0;
	seen->doubled += rig->run.doubled > 0;
	seen->held_back += rig->run.held_back > 0;
	seen->lossy += rig->run.dropped[DROP_RANDOM_LOSS] > 0;
	seen->downs += rig->run.dropped[DROP_LINK_DOWN] > 0;
	seen->trims += outcome->fabric.trimmed > 0;
	seen->failed += outcome->transport.qps_failed > 0;
	seen->calm += plan->is_calm;
	seen->wraps += rig->scenario.first_psn > 0xffffff - 61;
	seen->poor += rig->run.end == RUN_LIMIT;
	seen->rings += outcome->collective_count > 0;
}

// ---------------------------------------------------------------- a seed

// The same without frames and with shorter windows. Runs that end at a limit end somewhere else:
// frames have a pool of their own.
static void check_descriptors(const char *name, const char *yaml, struct shares *shares,
			      uint64_t seed, const struct rig *rig)
{
	static struct rig truth;
	const char *const *sets = add_shares(shares, seed, yaml);
	rig_run(&truth, yaml, sets);
	if (rig->run.end != RUN_LIMIT && truth.run.end != RUN_LIMIT)
		truth_same(name, rig, &truth);
	world_instance_free(&truth.world_instance);
	if (seed % 4 != 0) // short windows take their time
		return;
	rig_run(&truth, yaml,
		(const char *const[]){"limits.window=21ns", sets ? sets[0] : NULL, NULL});
	if (rig->run.end != RUN_LIMIT && truth.run.end != RUN_LIMIT)
		truth_count(name, "digest with shorter windows", truth.run.digest, rig->run.digest);
	world_instance_free(&truth.world_instance);
}

static void run_seed(uint64_t seed, struct seen *seen)
{
	static struct rig rig;
	static struct text text;
	struct exchange plan;
	struct shares shares;
	struct progress progress = {0};
	const struct sim_options options = {.ports = {.kind = PORTS_MEMORY,
						      .watch = watch_time,
						      .watch_context = &progress,
						      .fill = fill,
						      .store = store,
						      .payload_context = &progress}};
	char name[32];
	snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
	seed_begin("WEFT_BYTES", seed);
	add_world(&text, seed, &plan);
	if (getenv("WEFT_BYTES_PRINT") != NULL)
		fputs(text.at, stderr);
	if (rig_build_with(&rig, text.at, add_shares(&shares, seed, text.at), &options) < 0)
		fail_msg("refused: %u:%u: %s", rig.refusal.line, rig.refusal.column,
			 rig.refusal.text);
	memory_init(&progress.memory, &rig, seed);
	progress.settled = plan.settled_us * PS_PER_US;
	for (uint32_t i = 0; i < rig.world_instance.world.flow_count; i++)
		progress.settled = ps_max(progress.settled,
					  rig.world_instance.world.flows[i].start_ps);
	sim_run(rig.world_instance.sim, &rig.run);
	rig.outcome = rig.world_instance.world.outcome;
	memory_check(&progress.memory, &rig);
	assert_int_equal(progress.memory.placed, rig.outcome->transport.payload_bytes_placed);
	check_end(&rig, &plan);
	if (plan.is_calm)
		check_calm(&rig, &plan);
	check_progress(&rig, &plan, &progress);
	check_descriptors(name, text.at, &shares, seed, &rig);
	note(seen, &rig, &plan);
	seen->shared += shares.qps > 1 && rig.world_instance.world.flow_count > 0;
	memory_free(&progress.memory);
	world_instance_free(&rig.world_instance);
}

// Under sanitizers, which make it ten times slower, fewer.
static uint64_t worlds(void)
{
	return number("WEFT_BYTES_COUNT", is_sanitized() ? 40 : 320);
}

static void random_worlds_place_each_byte_where_it_belongs(void **)
{
	uint64_t first = number("WEFT_BYTES_FIRST", 1), count = worlds();
	struct seen seen = {0};
	for (uint64_t seed = first; seed < first + count; seed++)
		run_seed(seed, &seen);
	seeds_end();
	printf("%llu worlds from seed %llu: damage %u, copies %u, held back %u, loss %u, links "
	       "down %u, trims %u, failed QPs %u, calm %u, PSNs that wrap %u, too few packets %u, "
	       "rings %u, shared flows %u\n",
	       (unsigned long long)count, (unsigned long long)first, seen.damaged, seen.doubled,
	       seen.held_back, seen.lossy, seen.downs, seen.trims, seen.failed, seen.calm,
	       seen.wraps, seen.poor, seen.rings, seen.shared);
	if (count < 320)
		return;
	assert_true(seen.damaged > 5 && seen.doubled > 5 && seen.held_back > 5 && seen.lossy > 5);
	assert_true(seen.downs > 5 && seen.trims > 5 && seen.calm > 5 && seen.wraps > 5);
	assert_true(seen.failed > 5 && seen.rings > 5 && seen.shared > 5);
}

static void a_seed_is_the_same_world_with_every_compiler(void **)
{
	static struct text text;
	struct exchange plan;
	uint64_t digest = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		add_world(&text, seed, &plan);
		digest = text_digest(digest, &text);
	}
	assert_int_equal(digest, UINT64_C(0xea92edf0c1eb9a62));
}
