// SPDX-License-Identifier: Apache-2.0
// More rate, one more living path, an earlier repair, or more knowledge never makes a job slower,
// beyond what seeds differ by and one timer: random worlds of 1 to 8 planes, 1 to 256 EVs, up to
// three faults, at 50, 80 and 100 % of load, each run twice. WEFT_PATH_LAWS_FIRST and
// WEFT_PATH_LAWS_COUNT say which, WEFT_PATH_LAWS_ONLY which law, WEFT_PATH_LAWS_ALL=1 goes on
// behind a breach.
#include <math.h>

#include "../random_world.h"

#ifndef PACKETS
#define PACKETS 12000u // of a job
#endif
#define SEEDS_FIRST 2u	   // of each side
#define SEEDS_MORE 8u	   // where those say that a law may be broken
#define SEEDS_MOST 24u	   // and others again: only these break one
#define SLOWER_LEAST 0.04  // a law is broken by no less
#define SLOWER_SMALL 0.5   // more rate, two planes with windows of few packets
#define TIMER_S 262.144e-6 // nor by less than one timer: its last packets may wait for that
#define STANDARD_ERRORS 4. // nor by less than so many of the difference
#define OTHERS_MAX 2u

enum law { LAW_RATE, LAW_PATH, LAW_REPAIR, LAW_KNOWLEDGE, LAW_COUNT };

static const char *const law_names[] = {"more rate", "one more living path", "an earlier repair",
					"more knowledge"};

struct pair {
	enum law law;
	uint32_t planes, per_t0, t1s, bundle, evs;
	double trunk_gbps, link_gbps, bytes;
	double job_us; // as if alone, at full rate
	const char *traffic;
	struct text others;    // faults of both sides
	struct text faults[2]; // of the side that should be slower, and of the other
	const char *key[2];    // an assignment, or NULL
};

struct side {
	double mean_s, error_s; // of the job's end, where it ended
	uint32_t ended;
};

static struct rig rig;
static struct text text;

// ---------------------------------------------------------------- worlds

static uint32_t trunks(const struct pair *pair)
{
	return pair->t1s * pair->bundle;
}

static void draw_fabric(struct pair *pair, struct rng *rng)
{
	static const double loads[] = {0.5, 0.8, 1.0}, rates[] = {10, 25, 100, 400};
	static const char *const traffic[] = {"tornado", "permutation"};
	pair->planes = pick(rng, 1, 8);
	pair->per_t0 = 2u << pick(rng, 0, 2);
	pair->bundle = 1u << pick(rng, 0, 1);
	pair->t1s = pair->per_t0 / pair->bundle;
	uint32_t most = 0;
	while (pair->planes << (most + 1) <= 256)
		most++;
	pair->evs = pair->planes << pick(rng, 0, most);
	pair->link_gbps = rates[pick(rng, 0, 3)];
	pair->trunk_gbps = pair->link_gbps / loads[pick(rng, 0, 2)];
	pair->traffic = traffic[pick(rng, 0, 1)];
	pair->bytes = PACKETS / (2 * pair->per_t0) * 4096.0;
	pair->job_us = pair->bytes * 8e-3 / (pair->link_gbps * pair->planes);
}

// A fault of some cables at a place of a random kind, with what it does behind it. A place may be
// such that the job goes on without it.
static void place_fault(const struct pair *pair, struct rng *rng, struct text *ret)
{
	uint32_t plane = pick(rng, 0, pair->planes - 1), kind = pick(rng, 0, 3);
	if (kind == 0 && pair->planes > 1)
		add(ret, "at: {nic: %u, plane: %u}", pick(rng, 0, 2 * pair->per_t0 - 1), plane);
	else if (kind == 1 && pair->t1s > 1)
		add(ret, "at: {t1: %u, plane: %u}", pick(rng, 0, pair->t1s - 1), plane);
	else if (kind == 2 && pair->planes > 1)
		add(ret, "at: {plane: %u}", plane);
	else
		add(ret, "at: {t0: 0, up: %u, plane: %u}", pick(rng, 0, trunks(pair) - 1), plane);
}

static double part_of_job(const struct pair *pair, struct rng *rng)
{
	return pair->job_us * pick(rng, 0, 60) / 100;
}

static void draw_others(struct pair *pair, struct rng *rng)
{
	static struct text place;
	for (uint32_t left = pick(rng, 0, OTHERS_MAX); left > 0; left--) {
		place.used = 0;
		place_fault(pair, rng, &place);
		double from_us = part_of_job(pair, rng);
		double until_us = from_us + 0.2 + part_of_job(pair, rng);
		if (pick(rng, 0, 1))
			add(&pair->others,
			    "  - {kind: link_down, %s, from: %.3fus, until: %.3fus}\n", place.at,
			    from_us, until_us);
		else
			add(&pair->others, "  - {kind: slow, %s, from: %.3fus, rate: %u%%}\n",
			    place.at, from_us, pick(rng, 10, 90));
	}
}

static void add_rate(struct text *faults, const char *place, double from_us, uint32_t rate)
{
	if (rate == 0)
		add(faults, "  - {kind: link_down, %s, from: %.3fus}\n", place, from_us);
	else if (rate < 100)
		add(faults, "  - {kind: slow, %s, from: %.3fus, rate: %u%%}\n", place, from_us,
		    rate);
}

static void draw_rate(struct pair *pair, struct rng *rng)
{
	static const uint32_t rates[] = {0, 1, 2, 5, 10, 25, 40, 60, 80, 95, 100};
	struct text place = {.used = 0};
	place_fault(pair, rng, &place);
	double from_us = part_of_job(pair, rng);
	uint32_t low = pick(rng, 0, 9), high = low + pick(rng, 1, low == 0 ? 6 : 10 - low);
	add_rate(&pair->faults[0], place.at, from_us, rates[low]);
	add_rate(&pair->faults[1], place.at, from_us, rates[high]);
}

// So many trunks of a T0 are dead, or one less: half of the time all of them, or all but one.
static void draw_path(struct pair *pair, struct rng *rng)
{
	uint32_t all = trunks(pair), plane = pick(rng, 0, pair->planes - 1);
	uint32_t dead = pick(rng, 0, 1) ? all : pick(rng, 1, all);
	uint32_t first = pick(rng, 0, all - 1);
	double from_us = part_of_job(pair, rng);
	for (uint32_t i = 0; i < dead; i++)
		for (uint32_t side = 0; side < 2; side++)
			if (side == 0 || i + 1 < dead)
				add(&pair->faults[side],
				    "  - {kind: link_down, at: {t0: 0, up: %u, plane: %u}, from: "
				    "%.3fus}\n",
				    (first + i) % all, plane, from_us);
}

static void draw_repair(struct pair *pair, struct rng *rng)
{
	struct text place = {.used = 0};
	place_fault(pair, rng, &place);
	double from_us = part_of_job(pair, rng);
	double lasts_us = 0.2 + part_of_job(pair, rng);
	uint32_t percent = pick(rng, 5, 90);
	for (uint32_t side = 0; side < 2; side++)
		add(&pair->faults[side], "  - {kind: link_down, %s, from: %.3fus, until: %.3fus}\n",
		    place.at, from_us,
		    from_us + 0.1 + (side == 0 ? lasts_us : lasts_us * percent / 100));
}

static void draw_knowledge(struct pair *pair, struct rng *rng)
{
	static const char *const keys[][2] = {
		{"transport.port_status=false", NULL},
		{"transport.probe_idle=false", NULL},
	};
	uint32_t number = pick(rng, 0, 1), nic = pick(rng, 0, 2 * pair->per_t0 - 1);
	double from_us = part_of_job(pair, rng);
	struct text place = {.used = 0};
	add(&place, "at: {nic: %u, plane: %u}", nic, pick(rng, 0, pair->planes - 1));
	if (number == 1 || pair->planes == 1) {
		place.used = 0;
		place_fault(pair, rng, &place);
	}
	for (uint32_t side = 0; side < 2; side++) {
		add(&pair->faults[side], "  - {kind: link_down, %s, from: %.3fus}\n", place.at,
		    from_us);
		pair->key[side] = keys[number][side];
	}
}

static void draw_pair(struct pair *pair, uint64_t seed)
{
	static void (*const draw[])(struct pair *, struct rng *) = {draw_rate, draw_path,
								    draw_repair, draw_knowledge};
	struct rng rng = rng_of(seed, RNG_TEST, 0x70617468);
	memset(pair, 0, sizeof(*pair));
	pair->law = (enum law)(seed % LAW_COUNT);
	draw_fabric(pair, &rng);
	draw_others(pair, &rng);
	draw[pair->law](pair, &rng);
}

static void write_world(const struct pair *pair, uint32_t side, uint32_t seed)
{
	text.used = 0;
	add(&text, "name: path-law\nseed: %u\nfabric: {nics: %u, planes: %u, nics_per_t0: %u, ",
	    seed, 2 * pair->per_t0, pair->planes, pair->per_t0);
	add(&text, "t1_count: %u, bundle: %u, link_rate: %gGb/s, trunk_rate: %gGb/s}\n", pair->t1s,
	    pair->bundle, pair->link_gbps, pair->trunk_gbps);
	add(&text, "transport: {evs: %u}\ntraffic: {kind: %s, bytes: %.0fB}\n", pair->evs,
	    pair->traffic, pair->bytes);
	if (pair->others.used + pair->faults[side].used > 0)
		add(&text, "faults:\n%s%s", pair->faults[side].at, pair->others.at);
}

// ---------------------------------------------------------------- laws

// When a job ends, in seconds.
static double job_s(const struct pair *pair, uint32_t side, uint32_t seed)
{
	const char *const sets[] = {pair->key[side], NULL};
	write_world(pair, side, seed);
	rig_run(&rig, text.at, sets);
	double end_s = rig.run.end == RUN_DONE ? (double)rig.outcome->end_ps * 1e-12 : INFINITY;
	world_instance_free(&rig.world_instance);
	return end_s;
}

static struct side measure(const struct pair *pair, uint32_t side, uint32_t first, uint32_t count)
{
	struct side ret = {.ended = 0};
	double sum = 0, squares = 0;
	for (uint32_t i = 0; i < count; i++) {
		double end_s = job_s(pair, side, first + i);
		if (isinf(end_s))
			continue;
		ret.ended++;
		sum += end_s;
		squares += end_s * end_s;
	}
	ret.mean_s = sum / fmax(ret.ended, 1);
	double variance = squares / fmax(ret.ended, 1) - ret.mean_s * ret.mean_s;
	ret.error_s = sqrt(fmax(variance, 0) / fmax(ret.ended - 1.0, 1));
	return ret;
}

// Where windows hold few packets planes have no shares of them, and one that is nearly dead holds
// half: docs/protocol.md, Shares of planes.
static double least_breach(const struct pair *pair)
{
	bool is_small = pair->planes == 2 && pair->link_gbps <= 25;
	return is_small && pair->law == LAW_RATE ? SLOWER_SMALL : SLOWER_LEAST;
}

// By how much the side that should be no slower is slower beyond the noise; 0: by nothing. Of runs
// that did not end, which a QP without a living path does not, a quarter more is beyond it.
static double breach(const struct pair *pair, uint32_t first, uint32_t count, double errors)
{
	struct side slow = measure(pair, 0, first, count), fast = measure(pair, 1, first, count);
	if (fast.ended + count / 4 < slow.ended)
		return INFINITY;
	if (slow.ended < count || fast.ended < count)
		return 0;
	double slower_s = fast.mean_s - slow.mean_s;
	bool is_noise = slower_s < errors * hypot(slow.error_s, fast.error_s) ||
		slower_s < least_breach(pair) * slow.mean_s + TIMER_S;
	return is_noise ? 0 : slower_s / slow.mean_s;
}

// A few seeds sort out nearly all; what they accuse has more of them, and then others.
static double broken_by(const struct pair *pair)
{
	if (breach(pair, 1, SEEDS_FIRST, 0) == 0 || breach(pair, 1, SEEDS_MORE, 2) == 0)
		return 0;
	return breach(pair, 100, SEEDS_MOST, STANDARD_ERRORS);
}

static void say_breach(const struct pair *pair, uint64_t seed, double by)
{
	print_message("world %u: %s makes the job %.1f %% slower\n", (uint32_t)seed,
		      law_names[pair->law], 100 * by);
	for (uint32_t side = 0; side < 2; side++) {
		write_world(pair, side, 1);
		print_message("%s:\n%s%s%s\n", side == 0 ? "without" : "with", text.at,
			      pair->key[side] ? "--set " : "",
			      pair->key[side] ? pair->key[side] : "");
	}
}

static void more_is_never_slower(void **state)
{
	(void)state;
	static struct pair pair;
	uint64_t first = number("WEFT_PATH_LAWS_FIRST", 1);
	uint64_t count = number("WEFT_PATH_LAWS_COUNT", 100);
	uint64_t only = number("WEFT_PATH_LAWS_ONLY", LAW_COUNT);
	bool goes_on = number("WEFT_PATH_LAWS_ALL", 0) != 0;
	uint32_t tried[LAW_COUNT] = {0}, broken[LAW_COUNT] = {0}, all_broken = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		seed_begin("WEFT_PATH_LAWS", seed);
		draw_pair(&pair, seed);
		if (only != LAW_COUNT && pair.law != (enum law)only)
			continue;
		double by = broken_by(&pair);
		tried[pair.law]++;
		if (by == 0)
			continue;
		say_breach(&pair, seed, by);
		broken[pair.law]++;
		all_broken++;
		if (!goes_on)
			break;
	}
	seeds_end();
	for (uint32_t law = 0; law < LAW_COUNT; law++)
		print_message("%s: %u worlds, %u against it\n", law_names[law], tried[law],
			      broken[law]);
	assert_int_equal(all_broken, 0);
}
