// SPDX-License-Identifier: Apache-2.0
// A flow that is alone reaches the payload share of its line: for any rate, delay, payload,
// transport and control, unless a warning says what holds it back. WEFT_LONE_FIRST and
// WEFT_LONE_COUNT say which worlds.
#include "../random_world.h"

#include <weft/world/world_warning.h>

#define PACKETS 2000.0	    // of a flow, and more where the line holds more
#define PACKETS_MAX 20000.0 // a world may be no larger
#define SHARE_LEAST 0.98    // credits are 0.99 of the line

static struct rig rig;
static struct text text;

struct lone {
	double rate_bps, payload_bytes, bytes;
	bool is_rc;
};

static const char *word(struct rng *rng, const char *const *words, uint32_t count)
{
	return words[pick(rng, 0, count - 1)];
}

static struct lone draw_world(uint64_t seed)
{
	static const double rates_gbps[] = {1, 2.5, 10, 25, 40, 100, 200, 400, 800, 1600};
	static const double delays_ns[] = {1, 10, 100, 500, 1000, 5000, 20000, 1e5, 1e6, 1e7};
	static const char *const mrc[] = {"nscc",   "fixed", "swift",	 "dctcp",
					  "mprdma", "rccc",  "nscc_rccc"};
	static const char *const rc[] = {"fixed", "dcqcn"};
	struct rng rng = rng_of(seed, RNG_TEST, 0x6c6f6e65);
	double gbps = rates_gbps[pick(&rng, 0, 9)], delay = delays_ns[pick(&rng, 0, 9)];
	struct lone lone = {.rate_bps = gbps * 1e9, .is_rc = pick(&rng, 0, 2) == 0};
	uint32_t planes = lone.is_rc ? 1 : 1u << pick(&rng, 0, 2);
	lone.payload_bytes = 256u << pick(&rng, lone.is_rc ? 0 : 2, 4);
	double rtt_s = 8 * delay * 1e-9,
	       packets = 3 * lone.rate_bps * planes * rtt_s / 8 / lone.payload_bytes;
	packets = packets < PACKETS ? PACKETS : packets > PACKETS_MAX ? PACKETS_MAX : packets;
	lone.bytes = packets * lone.payload_bytes;
	text.used = 0;
	add(&text,
	    "name: lone\nseed: %u\nfabric: {nics: 2, nics_per_t0: 2, t1_count: 0, planes: %u, ",
	    (uint32_t)seed, planes);
	add(&text, "link_rate: %gGb/s, nic_delay: %.0fns, switch_delay: %.0fns}\n", gbps, delay,
	    delay);
	add(&text, "transport: {kind: %s, payload: %.0fB}\n", lone.is_rc ? "rc" : "mrc",
	    lone.payload_bytes);
	const char *name = lone.is_rc ? word(&rng, rc, 2) : word(&rng, mrc, 7);
	add(&text, "cc: {algorithm: %s}\n", name);
	if (lone.is_rc && pick(&rng, 0, 1))
		add(&text, "queue: {pfc: true}\n");
	add(&text, "traffic: {kind: flows, flows: [{from: 0, to: 1, bytes: %.0fB}]}\n", lone.bytes);
	lone.rate_bps *= planes;
	return lone;
}

// Whether the flow is told to stay below its line.
static bool is_told(const struct world *world)
{
	struct world_warning warnings[WORLD_WARNINGS_MAX];
	uint32_t count = world_warnings(world, warnings);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(warnings[i].name, "below-line") == 0)
			return true;
	return false;
}

static void one_world(const struct lone *lone, uint32_t *told)
{
	const struct world *world = &rig.world_instance.world;
	double frame = lone->payload_bytes + world->transport.header_bytes;
	double ideal_s = lone->bytes * frame / lone->payload_bytes * 8 / lone->rate_bps;
	double took_s = (double)(rig.world_instance.world.outcome->end_ps -
				 world->topology.base_rtt_ps) *
		1e-12;
	bool is_short = ideal_s < SHARE_LEAST * took_s;
	if (rig.run.end != RUN_DONE)
		fail_msg("ended as %s:\n%s", run_end_name(rig.run.end), text.at);
	if (is_short && !is_told(world))
		fail_msg("%.1f %% of the line, and no word of it:\n%s", 100 * ideal_s / took_s,
			 text.at);
	*told += is_told(world);
}

static void a_lone_flow_fills_its_line(void **state)
{
	(void)state;
	uint64_t first = number("WEFT_LONE_FIRST", 1), count = number("WEFT_LONE_COUNT", 100);
	uint32_t told = 0, refused = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		seed_begin("WEFT_LONE", seed);
		struct lone lone = draw_world(seed);
		if (rig_build(&rig, text.at, NULL) < 0) { // PFC has no room for so long a cable
			assert_non_null(strstr(rig.refusal.text, "could hold"));
			refused++;
			continue;
		}
		sim_run(rig.world_instance.sim, &rig.run);
		one_world(&lone, &told);
		world_instance_free(&rig.world_instance);
	}
	seeds_end();
	print_message("%u of %u worlds fill their line, %u say why not, %u are refused\n",
		      (uint32_t)count - told - refused, (uint32_t)count, told, refused);
	assert_true((told + refused) * 2 < count || count < 10);
}

// Queues of trunks are as deep as NICs' lines ask for, and drain at the trunks' own rate: no hole
// is held lost and no timer rings before they have. Of four trunks whose queues differ the last to
// drain leaves a tenth.
static void a_lone_flow_fills_slower_trunks(void **)
{
	const double gbps = 10, seconds = 0.006;
	for (uint32_t at = 0; at < 3 * 3 * 2; at++) {
		uint32_t planes = 1u << at % 3, trunks = 1u << at / 3 % 3;
		double rate_bps = gbps * 1e9 * planes * trunks;
		text.used = 0;
		add(&text, "name: trunks\nseed: 1\nfabric: {nics: 4, nics_per_t0: 2, ");
		add(&text, "t1_count: %u, planes: %u, link_rate: %gGb/s, ", trunks, planes,
		    10 * gbps);
		add(&text, "trunk_rate: %gGb/s, trunk_delay: %s}\n", gbps,
		    at < 9 ? "500ns" : "10us");
		add(&text, "traffic: {kind: flows, flows: [{from: 0, to: 2, bytes: %.0fB}]}\n",
		    rate_bps / 8 * seconds);
		assert_int_equal(rig_build(&rig, text.at, NULL), 0);
		sim_run(rig.world_instance.sim, &rig.run);
		const struct world *world = &rig.world_instance.world;
		const struct transport_counters *counters = &world->outcome->transport;
		double frame = 1 +
			world->transport.header_bytes / (double)world->transport.payload_bytes;
		double took_s = (double)world->outcome->end_ps * 1e-12;
		uint64_t again = counters->rtx[RTX_HOLE] + counters->rtx[RTX_TIMEOUT];
		if (rig.run.end != RUN_DONE || seconds * frame < 0.88 * took_s || again > 0)
			fail_msg("%s, %.1f %% of the trunks, %lu sent again for holes and "
				 "timers:\n%s",
				 run_end_name(rig.run.end), 100 * seconds * frame / took_s,
				 (unsigned long)again, text.at);
		world_instance_free(&rig.world_instance);
	}
}

// What a warning says that a flow reaches at most, in % of its line; 100 where none does.
static double most_said(const struct world *world)
{
	struct world_warning warnings[WORLD_WARNINGS_MAX];
	uint32_t count = world_warnings(world, warnings);
	double most = 100;
	for (uint32_t i = 0; i < count; i++) {
		const char *at = strstr(warnings[i].text, "it reaches ");
		if (at != NULL)
			most = strtod(at + strlen("it reaches "), NULL);
	}
	return most;
}

// A window lets whole packets out, one in any case: of one that is smaller than two packets a flow
// gets what is said, of others no more.
static void a_small_window_holds_a_flow_where_it_is_said(void **)
{
	static const char *const names[] = {"fixed", "nscc", "swift"};
	const double bytes = 4e6;
	for (uint32_t at = 0; at < 3 * 4; at++) {
		uint32_t window = 6000 + 2500 * (at / 3);
		const char *name = names[at % 3], *key = at % 3 == 0 ? "window" : "max_window";
		text.used = 0;
		add(&text, "name: small\nseed: 1\nfabric: {nics: 2, nics_per_t0: 2, t1_count: 0, ");
		add(&text, "planes: 1, link_rate: 10Gb/s}\ncc: {algorithm: %s, %s: %uB}\n", name,
		    key, window);
		add(&text, "traffic: {kind: flows, flows: [{from: 0, to: 1, bytes: %.0fB}]}\n",
		    bytes);
		assert_int_equal(rig_build(&rig, text.at, NULL), 0);
		sim_run(rig.world_instance.sim, &rig.run);
		const struct world *world = &rig.world_instance.world;
		double frame = 1 +
			world->transport.header_bytes / (double)world->transport.payload_bytes;
		double took_s = (double)world->outcome->end_ps * 1e-12, most = most_said(world);
		double reached = 100 * bytes * frame * 8 / 10e9 / took_s;
		bool is_one = window < 2 * world->transport.cc.mtu_bytes;
		if (reached > 1.005 * most || (is_one && (reached < 0.97 * most || most == 100)))
			fail_msg("%.1f %% of the line, said are %.1f:\n%s", reached, most, text.at);
		world_instance_free(&rig.world_instance);
	}
}
