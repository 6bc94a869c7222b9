// SPDX-License-Identifier: Apache-2.0
// What a failure costs is what it takes: random worlds of two racks, 1 to 8 planes, 50, 80 or 100 %
// of load, each run whole and with trunks, a T1, a plane, or the cable of a NIC dead. At best it
// costs what it does where switches route around it within a microsecond; a plane and a cable,
// which nothing routes around, their part of the planes. When paths have settled the goodput lost
// is at most 1.3 times that; the slowest flow ends at most 2.5 times as much later as at best, and
// a timer and what it takes to learn of the dead. WEFT_COSTS_FIRST and WEFT_COSTS_COUNT say which
// worlds, WEFT_COSTS_ALL=1 goes on behind a breach.
#include <math.h>

#include <weft/fabric/fabric_way.h>
#include <weft/host/host.h>

#include "../random_world.h"
#include "../sanitized.h"

#define PORT_PACKETS 2500u // of a job on each port, and more where they are over in
#define JOB_LEAST_US 1000. // less than that
#define PACKETS_MAX 120000.
#define BINS 200u
#define SEEDS_FIRST 2u // of each side
#define SEEDS_MORE 8u  // where those say that it costs too much
#define SEEDS_MOST 24u // and others again: only these break the law
#define STEADY_MAX 1.3
#define SLOWER_MAX 2.
#define STEADY_LEAST 0.005 // of all: what is less is nothing
#define SLOWEST_MAX 2.5
#define TIMER_US 262.144  // the last packets of a flow may wait for that
#define ROUNDS_TO_LEARN 3 // over the EVs of a plane
#define STANDARD_ERRORS 4.
#define SEEDS_TRIED 1000u
#define LINKS_MAX 1024u

enum side { SIDE_WHOLE, SIDE_SLOWER, SIDE_AROUND, SIDE_HIT };
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

static void draw_dead(struct cost_world *world, struct rng *rng)
{
	world->dead = (enum dead)pick(rng, 0, world->planes > 1 ? DEAD_PORT : DEAD_T1);
	if (world->dead == DEAD_T1 && world->planes == 1 && world->t1s == 1)
		world->dead = DEAD_TRUNKS;
	world->plane = pick(rng, 0, world->planes - 1);
	world->down_us = world->job_us * pick(rng, 5, 20) / 100;
	uint32_t nic = pick(rng, 0, 2 * world->per_t0 - 1), t1 = pick(rng, 0, world->t1s - 1);
	world->dead_trunks = pick(rng, 1, trunks(world) - (world->planes == 1));
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

// Of the trunks of a T0 switch.
static double share_left(const struct cost_world *world)
{
	double dead = world->dead == DEAD_T1 ? world->bundle : world->dead_trunks;
	return 1 - dead / trunks(world);
}

static void write_world(const struct cost_world *world, enum side side, uint32_t seed)
{
	double trunk_gbps = world->link_gbps / world->load;
	text.used = 0;
	add(&text, "name: failure-cost\nseed: %u\nfabric: {nics: %u, planes: %u, nics_per_t0: %u, ",
	    seed, 2 * world->per_t0, world->planes, world->per_t0);
	add(&text, "t1_count: %u, bundle: %u, link_rate: %gGb/s, trunk_rate: %gGb/s%s}\n",
	    world->t1s, world->bundle, world->link_gbps,
	    side == SIDE_SLOWER ? trunk_gbps * share_left(world) : trunk_gbps,
	    side == SIDE_AROUND ? ", reroute_local: 1us, reroute_remote: 1us" : "");
	add(&text, "transport: {evs: %u}\ntraffic: {kind: tornado, bytes: %.0fB}\n", world->evs,
	    world->bytes);
	add(&text, "watch: {bin: %.3fus, bins: %u}\n", 2 * world->job_us / BINS, BINS);
	if (side == SIDE_AROUND || side == SIDE_HIT)
		add(&text, "faults:\n%s", world->faults.at);
}

// ---------------------------------------------------------------- living EVs

// Whether an EV of a QP of the only plane leads over no trunk that dies: the first ones of the
// first switch.
static bool is_living(const struct topology *topology, const struct packet *packet, uint32_t dead)
{
	static uint64_t counts[2 * LINKS_MAX];
	const struct switch_plan *plan = &topology->switches[0];
	uint32_t link = 0;
	assert_true(topology->link_count <= LINKS_MAX);
	memset(counts, 0, sizeof(counts));
	while (topology->links[link].tier != 0 || topology->links[link].node_a != packet->source)
		link++;
	topology_follow(topology, link, packet, counts);
	for (uint32_t up = 0; up < dead; up++) {
		uint32_t trunk = topology->port_links[plan->port_first + plan->route.up_first + up];
		if (counts[2 * trunk] + counts[2 * trunk + 1] > 0)
			return false;
	}
	return true;
}

static bool has_living(const struct world *world, uint32_t nic, uint32_t qpn, uint32_t dead)
{
	const struct endpoint *endpoint = world->hosts[nic]->nics[0].endpoint;
	struct qp_view view;
	assert_int_equal(endpoint_query(endpoint, qpn, &view), 0);
	struct packet packet = {.source = nic, .target = view.remote_nic};
	for (uint32_t index = 0; endpoint_ev(endpoint, qpn, index, &packet.ev) == 0; index++)
		if (is_living(&world->topology, &packet, dead))
			return true;
	return view.state != QP_RTS;
}

// Whether each QP has an EV that lives, whatever trunks die. A hash may give it none, and then
// nothing can be asked of it.
static bool is_reachable(const struct cost_world *world, uint32_t seed)
{
	bool ret = true;
	if (world->dead != DEAD_TRUNKS || world->planes > 1)
		return true;
	write_world(world, SIDE_HIT, seed);
	assert_int_equal(rig_build(&rig, text.at, NULL), 0);
	for (uint32_t nic = 0; nic < 2 * world->per_t0; nic++)
		for (uint32_t qpn = 0; qpn < 2; qpn++) // one that sends, one that receives
			ret = ret &&
				has_living(&rig.world_instance.world, nic, qpn, world->dead_trunks);
	world_instance_free(&rig.world_instance);
	return ret;
}

// The next seed of a world from `seed` on in which all can be reached.
static uint32_t next_seed(const struct cost_world *world, uint32_t seed)
{
	for (uint32_t left = SEEDS_TRIED; left > 0; left--, seed++)
		if (is_reachable(world, seed))
			return seed;
	fail_msg("of %u seeds none gives each QP an EV that lives", SEEDS_TRIED);
	return 0;
}

// ---------------------------------------------------------------- runs

// Mean over seeds, and its standard error.
struct figure {
	double sum, squares, mean, error;
	uint32_t count;
};

struct figures {
	struct figure slowest_us, steady_bytes; // placed in a bin, of those where all flows send
	bool has_ended;
};

static void figure_add(struct figure *figure, double value)
{
	figure->sum += value;
	figure->squares += value * value;
	figure->count++;
	figure->mean = figure->sum / figure->count;
	double variance = figure->squares / figure->count - figure->mean * figure->mean;
	figure->error = sqrt(fmax(variance, 0) / fmax(figure->count - 1., 1));
}

// Each EV that is dead must lose a packet, and only then is known.
static double learnt_us(const struct cost_world *world)
{
	return TIMER_US + ROUNDS_TO_LEARN * world->round_us;
}

static double settled_us(const struct cost_world *world)
{
	return world->down_us + fmax(learnt_us(world), world->job_us / 4);
}

static double steady_bytes(const struct cost_world *world)
{
	const struct outcome *outcome = rig.outcome;
	ps_t first_ps = outcome->end_ps;
	for (uint32_t flow = 0; flow < 2 * world->per_t0; flow++)
		first_ps = ps_min(first_ps, outcome->flow_end_ps[flow]);
	double bin_us = (double)outcome->series.bin_ps * 1e-6, sum = 0;
	uint32_t from = (uint32_t)ceil(settled_us(world) / bin_us);
	uint32_t until = (uint32_t)fmin((double)first_ps * 1e-6 / bin_us - 2, BINS);
	for (uint32_t bin = from; bin < until; bin++)
		sum += (double)outcome->series.bins[bin][SERIES_PLACED] / (until - from);
	return until > from + 4 ? sum : NAN; // all over before it settled
}

static struct figures measure(const struct cost_world *world, enum side side, uint32_t first,
			      uint32_t count)
{
	struct figures ret = {.has_ended = true};
	uint32_t seed = first;
	for (uint32_t i = 0; i < count && ret.has_ended; i++, seed++) {
		seed = next_seed(world, seed);
		write_world(world, side, seed);
		rig_run(&rig, text.at, NULL);
		ret.has_ended = rig.run.end == RUN_DONE;
		if (ret.has_ended) {
			figure_add(&ret.slowest_us, (double)rig.outcome->end_ps * 1e-6);
			figure_add(&ret.steady_bytes, steady_bytes(world));
		}
		world_instance_free(&rig.world_instance);
	}
	return ret;
}

// ---------------------------------------------------------------- what it costs

// Of the goodput, or of the time of the slowest flow: what it costs, the most it may, and the
// noise.
struct cost {
	double is, best, most, noise;
};

struct costs {
	struct cost goodput, slowest_us;
	bool has_ended, is_settled;
};

// What a plane costs that carries this part of what it did, or the cable of a NIC, which is the way
// of two flows, to it and from it.
static double plane_cost(const struct cost_world *world, double part)
{
	double flows = world->dead == DEAD_PORT ? world->per_t0 : 1;
	return (1 - part) / (world->planes * flows);
}

static void add_noise(struct cost *cost, const struct figure *figure, double factor)
{
	cost->noise = hypot(cost->noise, figure->error * factor);
}

// What no switch goes around: a plane of all flows, or of one.
static void bound_by_planes(const struct cost_world *world, const struct figures *whole,
			    struct costs *costs)
{
	double behind_us = whole->slowest_us.mean - world->down_us;
	costs->goodput.best = plane_cost(world, 0);
	costs->goodput.most = STEADY_MAX * costs->goodput.best;
	costs->slowest_us.best = behind_us / (world->planes - 1);
}

static void bound_by_trunks(const struct cost_world *world, const struct figures *whole,
			    const struct figures *slower, const struct figures *around,
			    struct costs *costs)
{
	double whole_bytes = whole->steady_bytes.mean;
	double part = slower->steady_bytes.count > 0 ? slower->steady_bytes.mean / whole_bytes : 0;
	double thinner = fmax(plane_cost(world, part), 0);
	costs->goodput.best = fmax(thinner, 1 - around->steady_bytes.mean / whole_bytes);
	costs->goodput.most = fmin(STEADY_MAX * costs->goodput.best, SLOWER_MAX * thinner);
	costs->slowest_us.best = fmax(around->slowest_us.mean - whole->slowest_us.mean, 0);
	add_noise(&costs->goodput, &slower->steady_bytes, SLOWER_MAX / whole_bytes / world->planes);
	add_noise(&costs->goodput, &around->steady_bytes, STEADY_MAX / whole_bytes);
	add_noise(&costs->slowest_us, &around->slowest_us, SLOWEST_MAX);
	costs->has_ended = costs->has_ended && around->has_ended && slower->has_ended;
}

// With so many standard errors of slack.
static struct costs measure_costs(const struct cost_world *world, uint32_t first, uint32_t count,
				  double errors)
{
	struct figures whole = measure(world, SIDE_WHOLE, first, count);
	struct figures hit = measure(world, SIDE_HIT, first, count);
	struct costs ret = {.has_ended = whole.has_ended && hit.has_ended,
			    .is_settled = !isnan(hit.steady_bytes.mean)};
	ret.goodput.is = 1 - hit.steady_bytes.mean / whole.steady_bytes.mean;
	ret.slowest_us.is = hit.slowest_us.mean - whole.slowest_us.mean;
	add_noise(&ret.goodput, &whole.steady_bytes, 1 / whole.steady_bytes.mean);
	add_noise(&ret.goodput, &hit.steady_bytes, 1 / whole.steady_bytes.mean);
	add_noise(&ret.slowest_us, &whole.slowest_us, 1);
	add_noise(&ret.slowest_us, &hit.slowest_us, 1);
	if (world->dead == DEAD_PLANE || world->dead == DEAD_PORT) {
		bound_by_planes(world, &whole, &ret);
	} else {
		uint32_t slower_count = share_left(world) > 0 ? count : 0; // else nothing is left
		struct figures slower = measure(world, SIDE_SLOWER, first, slower_count);
		struct figures around = measure(world, SIDE_AROUND, first, count);
		bound_by_trunks(world, &whole, &slower, &around, &ret);
	}
	ret.goodput.most += fmax(STEADY_LEAST, errors * ret.goodput.noise);
	ret.slowest_us.most = SLOWEST_MAX * ret.slowest_us.best + learnt_us(world) +
		errors * ret.slowest_us.noise;
	return ret;
}

// A loss that is not a number, where nothing is steady, is never more.
static bool is_too_much(const struct costs *costs)
{
	return !costs->has_ended || costs->goodput.is > costs->goodput.most ||
		costs->slowest_us.is > costs->slowest_us.most;
}

// Whether it costs more than it may; says so. A few seeds sort out nearly all.
static bool costs_too_much(const struct cost_world *world, uint64_t seed, uint32_t *settled)
{
	struct costs costs = measure_costs(world, 1, SEEDS_FIRST, 0);
	*settled += costs.is_settled;
	if (is_too_much(&costs))
		costs = measure_costs(world, 1, SEEDS_MORE, 2);
	if (is_too_much(&costs))
		costs = measure_costs(world, 100, SEEDS_MOST, STANDARD_ERRORS);
	if (!is_too_much(&costs))
		return false;
	write_world(world, SIDE_HIT, 1);
	print_message("world %u: %s: goodput lost %.2f %%, at best %.2f %%, at most %.2f %%; "
		      "%.1f us later, at best %.1f us, at most %.1f us%s\n%s",
		      (uint32_t)seed, dead_names[world->dead], 100 * costs.goodput.is,
		      100 * costs.goodput.best, 100 * costs.goodput.most, costs.slowest_us.is,
		      costs.slowest_us.best, costs.slowest_us.most,
		      costs.has_ended ? "" : "; not ended", text.at);
	return true;
}

// Worlds that broke it once, each for a cause of its own: five full planes beside one with a dead
// cable.
static void nor_where_it_once_cost_more(void **state)
{
	(void)state;
	static const uint64_t seeds[] = {1990};
	static struct cost_world world;
	for (uint32_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
		uint32_t settled = 0;
		draw_world(&world, seeds[i]);
		assert_false(costs_too_much(&world, seeds[i], &settled));
	}
}

static void a_failure_costs_what_it_takes(void **state)
{
	(void)state;
	static struct cost_world world;
	uint64_t usual = is_sanitized() ? 25 : 100;
	uint64_t first = number("WEFT_COSTS_FIRST", 1), count = number("WEFT_COSTS_COUNT", usual);
	bool goes_on = number("WEFT_COSTS_ALL", 0) != 0;
	uint32_t tried[DEAD_COUNT] = {0}, settled[DEAD_COUNT] = {0}, broken[DEAD_COUNT] = {0};
	uint32_t all_broken = 0;
	for (uint64_t seed = first; seed < first + count && (goes_on || all_broken == 0); seed++) {
		seed_begin("WEFT_COSTS", seed);
		draw_world(&world, seed);
		bool is_broken = costs_too_much(&world, seed, &settled[world.dead]);
		tried[world.dead]++;
		broken[world.dead] += is_broken;
		all_broken += is_broken;
	}
	seeds_end();
	for (uint32_t dead = 0; dead < DEAD_COUNT; dead++)
		print_message("%s: %u worlds, %u long enough to settle, %u cost too much\n",
			      dead_names[dead], tried[dead], settled[dead], broken[dead]);
	assert_int_equal(all_broken, 0);
}
