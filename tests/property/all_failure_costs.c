// SPDX-License-Identifier: Apache-2.0
// What a failure costs is what it takes: random worlds of two racks, 1 to 8 planes, 50, 80 or 100 %
// of load, each run whole and with trunks, a T1, a plane, or the cable of a NIC dead. When paths
// have settled, the goodput lost is at most 1.3 times what the failure takes of what the fabric
// could carry, and the slowest flow ends at most 2.5 times as much later as it would at best.
// WEFT_COSTS_FIRST and WEFT_COSTS_COUNT say which, WEFT_COSTS_ALL=1 goes on behind a breach.
#include <math.h>

#include "../random_world.h"
#include "../sanitized.h"

#define PORT_PACKETS 2500u // of a job on each port, and more where they are over in
#define JOB_LEAST_US 1000. // less than that
#define PACKETS_MAX 120000.
#define BINS 200u
#define SEEDS 3u
#define STEADY_MAX 1.3
#define STEADY_NOISE 0.03 // of all; so, too
#define SLOWEST_MAX 2.5
#define SLOWEST_NOISE 0.04
#define TIMER_US 262.144
#define SETTLED_US 300.
#define FULL_TRUNKS 0.88 // of trunks that are all needed; set after worlds: docs/protocol.md

enum dead { DEAD_TRUNKS, DEAD_T1, DEAD_PLANE, DEAD_PORT, DEAD_COUNT };

static const char *const dead_names[] = {"trunks", "a T1", "a plane", "the cable of a NIC"};

struct cost_world {
	enum dead dead;
	uint32_t planes, per_t0, t1s, bundle, evs, plane, dead_trunks;
	double load, link_gbps, bytes;
	double job_us, down_us;
	double round_us; // in which a QP may send over each EV of a plane once
	struct text faults;
};

static struct rig rig;
static struct text text;

// ---------------------------------------------------------------- worlds

static uint32_t trunks(const struct cost_world *world)
{
	return world->t1s * world->bundle;
}

// At least four EVs for each trunk: with fewer some trunks have none, and nothing is said here.
static void draw_evs(struct cost_world *world, struct rng *rng)
{
	uint32_t least = 0, most = 0;
	while (1u << least < 4 * trunks(world))
		least++;
	while (world->planes << (most + 1) <= 256)
		most++;
	world->evs = world->planes << (least < most ? pick(rng, least, most) : most);
}

static void draw_fabric(struct cost_world *world, struct rng *rng)
{
	static const double loads[] = {0.5, 0.8, 1.0}, rates[] = {10, 25, 50, 100, 200};
	world->planes = pick(rng, 1, 8);
	world->per_t0 = 2u << pick(rng, 0, 2);
	world->bundle = 1u << pick(rng, 0, 1);
	world->t1s = world->per_t0 / world->bundle;
	world->link_gbps = rates[pick(rng, 0, 4)];
	world->load = loads[pick(rng, 0, 2)];
	draw_evs(world, rng);
	double packet_us = 4096 * 8e-3 / world->link_gbps;
	double packets = fmax(PORT_PACKETS, JOB_LEAST_US / packet_us);
	packets = floor(fmin(packets, PACKETS_MAX / (2 * world->per_t0 * world->planes)));
	world->bytes = packets * world->planes * 4096;
	world->job_us = packets * packet_us;
	world->round_us = world->evs / world->planes * packet_us;
}

// On one plane no more than leave a QP a good half above the quarter of its EVs that are kept
// whatever they lose (transport.min_active): with fewer that are alive some QPs give up.
static uint32_t most_dead(const struct cost_world *world)
{
	return world->planes == 1 ? trunks(world) * 5 / 8 : trunks(world);
}

static void draw_dead(struct cost_world *world, struct rng *rng)
{
	world->dead = (enum dead)pick(rng, 0, world->planes > 1 ? DEAD_PORT : DEAD_T1);
	if (world->dead == DEAD_T1 && world->planes == 1 && world->t1s == 1)
		world->dead = DEAD_TRUNKS;
	world->plane = pick(rng, 0, world->planes - 1);
	world->down_us = world->job_us * pick(rng, 5, 20) / 100;
	uint32_t nic = pick(rng, 0, 2 * world->per_t0 - 1), t1 = pick(rng, 0, world->t1s - 1);
	world->dead_trunks = pick(rng, 1, most_dead(world));
	struct text places[DEAD_COUNT] = {{.used = 0}};
	add(&places[DEAD_T1], "t1: %u, ", t1);
	add(&places[DEAD_PORT], "nic: %u, ", nic);
	uint32_t count = world->dead == DEAD_TRUNKS ? world->dead_trunks : 1;
	for (uint32_t i = 0; i < count; i++) {
		places[DEAD_TRUNKS].used = 0;
		add(&places[DEAD_TRUNKS], "t0: 0, up: %u, ", i);
		add(&world->faults, "  - {kind: link_down, at: {%splane: %u}, from: %.3fus}\n",
		    places[world->dead].at, world->plane, world->down_us);
	}
}

static void draw_world(struct cost_world *world, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_TEST, 0x636f7374);
	memset(world, 0, sizeof(*world));
	draw_fabric(world, &rng);
	draw_dead(world, &rng);
}

static void write_world(const struct cost_world *world, bool is_hit, uint32_t seed)
{
	text.used = 0;
	add(&text, "name: failure-cost\nseed: %u\nfabric: {nics: %u, planes: %u, nics_per_t0: %u, ",
	    seed, 2 * world->per_t0, world->planes, world->per_t0);
	add(&text, "t1_count: %u, bundle: %u, link_rate: %gGb/s, trunk_rate: %gGb/s}\n", world->t1s,
	    world->bundle, world->link_gbps, world->link_gbps / world->load);
	add(&text, "transport: {evs: %u}\ntraffic: {kind: tornado, bytes: %.0fB}\n", world->evs,
	    world->bytes);
	add(&text, "watch: {bin: %.3fus, bins: %u}\n", 2 * world->job_us / BINS, BINS);
	if (is_hit)
		add(&text, "faults:\n%s", world->faults.at);
}

// ---------------------------------------------------------------- what it takes

// What a plane carries between the racks with so many of its trunks, of what NICs may send into it.
static double plane_part(const struct cost_world *world, double trunks_left)
{
	return fmin(1, FULL_TRUNKS * trunks_left / world->load);
}

// What is left at best of the goodput of all flows, or of the one that is hit most. The cable of a
// NIC is the way of two flows, to it and from it.
static double left_at_best(const struct cost_world *world, bool is_of_slowest)
{
	double whole = plane_part(world, 1), left = 0;
	if (world->dead == DEAD_TRUNKS)
		left = plane_part(world, 1 - (double)world->dead_trunks / trunks(world));
	else if (world->dead == DEAD_T1)
		left = plane_part(world, 1 - 1. / world->t1s);
	else if (world->dead == DEAD_PORT && !is_of_slowest)
		left = whole * (1 - 1. / world->per_t0);
	return 1 - (whole - left) / (whole * world->planes);
}

// ---------------------------------------------------------------- what it costs

struct figures {
	double slowest_us, steady_bytes; // placed in a bin, of those where all flows send
	bool has_ended;
};

// Until paths have settled: what is dead must be lost on once, and only then is known.
static double settled_us(const struct cost_world *world)
{
	return world->down_us + fmax(fmax(SETTLED_US, world->job_us / 4), 3 * world->round_us);
}

static double steady_bytes(const struct cost_world *world)
{
	const struct outcome *outcome = rig.outcome;
	ps_t first_ps = outcome->end_ps;
	for (uint32_t flow = 0; flow < 2 * world->per_t0; flow++)
		first_ps = ps_min(first_ps, outcome->flow_end_ps[flow]);
	double bin_us = (double)outcome->series.bin_ps * 1e-6, sum = 0;
	uint32_t from = (uint32_t)ceil(settled_us(world) / bin_us);
	uint32_t until = (uint32_t)((double)first_ps * 1e-6 / bin_us) - 2;
	for (uint32_t bin = from; bin < until && bin < BINS; bin++)
		sum += (double)outcome->series.bins[bin][SERIES_PLACED] / (until - from);
	return until > from + 4 ? sum : NAN; // all over before it settled
}

static struct figures measure(const struct cost_world *world, bool is_hit)
{
	struct figures ret = {.has_ended = true};
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		write_world(world, is_hit, seed);
		rig_run(&rig, text.at, NULL);
		ret.has_ended = ret.has_ended && rig.run.end == RUN_DONE;
		ret.slowest_us += (double)rig.outcome->end_ps * 1e-6 / SEEDS;
		ret.steady_bytes += ret.has_ended ? steady_bytes(world) / SEEDS : 0;
		stage_free(&rig.stage);
	}
	return ret;
}

// Whether it costs more than it may; says so. NAN, where nothing is steady, is never more.
static bool costs_too_much(const struct cost_world *world, uint64_t seed)
{
	struct figures whole = measure(world, false), hit = measure(world, true);
	double lost = 1 - hit.steady_bytes / whole.steady_bytes;
	double taken = 1 - left_at_best(world, false);
	double behind_us = whole.slowest_us - world->down_us;
	double least_us = behind_us / left_at_best(world, true) - behind_us;
	double late_us = hit.slowest_us - whole.slowest_us;
	double late_max_us = SLOWEST_MAX * least_us + TIMER_US + 3 * world->round_us +
		SLOWEST_NOISE * whole.slowest_us;
	if (whole.has_ended && hit.has_ended && !(lost > STEADY_MAX * taken + STEADY_NOISE) &&
	    late_us <= late_max_us)
		return false;
	write_world(world, true, 1);
	print_message("world %u: %s: goodput lost %.2f %% where %.2f %% is taken; %.1f us later, "
		      "at best %.1f us, at most %.1f us%s\n%s",
		      (uint32_t)seed, dead_names[world->dead], 100 * lost, 100 * taken, late_us,
		      least_us, late_max_us, hit.has_ended ? "" : "; not ended", text.at);
	return true;
}

static void a_failure_costs_what_it_takes(void **state)
{
	(void)state;
	static struct cost_world world;
	uint64_t usual = is_sanitized() ? 25 : 100;
	uint64_t first = number("WEFT_COSTS_FIRST", 1), count = number("WEFT_COSTS_COUNT", usual);
	bool goes_on = number("WEFT_COSTS_ALL", 0) != 0;
	uint32_t tried[DEAD_COUNT] = {0}, broken[DEAD_COUNT] = {0}, all_broken = 0;
	for (uint64_t seed = first; seed < first + count && (goes_on || all_broken == 0); seed++) {
		seed_begin("WEFT_COSTS", seed);
		draw_world(&world, seed);
		bool is_broken = costs_too_much(&world, seed);
		tried[world.dead]++;
		broken[world.dead] += is_broken;
		all_broken += is_broken;
	}
	seeds_end();
	for (uint32_t dead = 0; dead < DEAD_COUNT; dead++)
		print_message("%s: %u worlds, %u cost too much\n", dead_names[dead], tried[dead],
			      broken[dead]);
	assert_int_equal(all_broken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_costs_what_it_takes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
