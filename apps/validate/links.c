// SPDX-License-Identifier: Apache-2.0
// Closed forms of links that many choose among by chance: how full the fullest of n links is with
// k balls, flows or packets.
//
//   balls into  P(most <= b) = P(each of n Poisson(k / n) <= b, and their sum is k) / P(their sum
//   is bins        k); for few balls this is the n! / n^n [x^n] (sum of x^j / j!, j <= b)^n of
//   textbooks ECMP        n flows on n links: read off the time that the fullest link takes spray
//   k packets of n flows on n links, each packet by itself: counted as they leave. For
//               many of them most / mean - 1 goes to sqrt(2 ln n / (k / n))

#include <math.h>
#include <string.h>

#include "form.h"
#include "validate.h"

#define LINKS_MAX 64
#define BALLS_MAX 3200
#define ECMP_SEEDS 60
#define SPRAY_SEEDS 20

static const struct way across = {4, false};

// ---------------------------------------------------------------- balls into bins

static double poisson(double mean, uint32_t count)
{
	return exp(count * log(mean) - mean - lgamma(count + 1.0));
}

// P(the fullest of `links` has at most `most` of `balls`).
static double at_most(uint32_t links, uint32_t balls, uint32_t most)
{
	static double ways[BALLS_MAX + 1], next[BALLS_MAX + 1], one[BALLS_MAX + 1];
	double mean = (double)balls / links;
	for (uint32_t here = 0; here <= balls; here++) {
		one[here] = here <= most ? poisson(mean, here) : 0;
		ways[here] = here == 0;
	}
	for (uint32_t link = 0; link < links; link++) {
		for (uint32_t sum = 0; sum <= balls; sum++) {
			next[sum] = 0;
			for (uint32_t here = 0; here <= most && here <= sum; here++)
				next[sum] += ways[sum - here] * one[here];
		}
		memcpy(ways, next, sizeof(ways));
	}
	return ways[balls] / poisson(balls, balls);
}

static void fullest(uint32_t links, uint32_t balls, double *ret_mean, double *ret_sd)
{
	double mean = 0, squares = 0, before = 0;
	for (uint32_t most = 1; most <= balls && before < 1 - 1e-9; most++) {
		double chance = at_most(links, balls, most) - before;
		before += chance;
		mean += chance * most;
		squares += chance * most * most;
	}
	*ret_mean = mean;
	*ret_sd = sqrt(squares - mean * mean);
}

// NICs on two switches with n links each; NIC i sends to i + n.
static void world_of(char *ret, size_t bytes, uint32_t n, const char *path, uint32_t evs,
		     uint32_t packets)
{
	snprintf(ret, bytes,
		 "name: links\n"
		 "fabric: {topology: leaf-spine, nics: %u, nics_per_t0: %u, t1_count: %u, "
		 "link_rate: 100Gb/s, nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
		 "transport: {payload: 4086B, header: 64B, control: 64B, evs: %u, path: %s, "
		 "rto: 20ms, sack_rule: htsim, completion: sack, hole_age: off}\n"
		 "cc: {algorithm: fixed, window: 8MB}\n"
		 "queue: {bytes: 64MB, ecn: false, trim: false}\n"
		 "traffic: {kind: tornado, bytes: %uB}\n",
		 2 * n, n, n, evs, path, packets * PAYLOAD);
}

// ---------------------------------------------------------------- ECMP

// The fullest link's flows in each of the two directions, from when the last of them was done.
static int ecmp_measured(uint32_t n, uint32_t seed, double *ret_sum, struct refusal *refusal)
{
	static struct single_run single;
	char text[1024], set[32];
	world_of(text, sizeof(text), n, "single", 16, 20);
	snprintf(set, sizeof(set), "seed=%u", seed);
	const char *const sets[] = {set, NULL};
	int rc = single_run_whole(&single, text, sets, NULL, refusal);
	if (rc < 0)
		return rc;
	ps_t last[2] = {0}, full = way_line(&across, FULL);
	for (uint32_t i = 0; i < 2 * n; i++)
		last[i / n] = ps_max(last[i / n], single.outcome->flow_end_ps[i]);
	single_run_end(&single);
	ps_t rest = (across.links - 1) * full + way_delay(&across) + form_answer_ps(&across);
	for (int side = 0; side < 2; side++)
		*ret_sum += (double)((last[side] - rest + 10 * full) / (20 * full));
	return 0;
}

static int ecmp(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	for (uint32_t n = 8; n <= LINKS_MAX; n *= 2) {
		double mean, sd, sum = 0;
		char name[64];
		snprintf(name, sizeof(name), "ecmp-fullest-of-%u-links", n);
		if (!choice_takes(choice, name))
			continue;
		fullest(n, n, &mean, &sd);
		for (uint32_t seed = 1; seed <= ECMP_SEEDS; seed++) {
			int rc = ecmp_measured(n, seed, &sum, refusal);
			if (rc < 0)
				return rc;
		}
		struct claim claim = claim_of(name, "balls into bins", mean,
					      3 * sd / sqrt(2 * ECMP_SEEDS),
					      "3 standard errors of 120");
		claim.unit = "flows";
		claim.measured = sum / (2 * ECMP_SEEDS);
		claims_add(claims, &claim);
	}
	return 0;
}

// ---------------------------------------------------------------- spray

// A switch, and data packets that left each of its ports.
struct counted {
	struct machine machine;
	uint32_t left[2 * LINKS_MAX];
};

static struct counted leaves[2];

static ps_t count_run(void *self, const struct inbox *in, ps_t until, struct outbox *out)
{
	struct counted *counted = self;
	ps_t next = counted->machine.run(counted->machine.self, in, until, out);
	for (uint32_t i = 0; i < out->count; i++)
		counted->left[out->departures[i].port] += out->departures[i].bytes == FULL;
	return next;
}

// Puts a counter around both leaves, which come first among the switches.
static void watch_leaves(struct single_run *single)
{
	struct world *world = &single->world_instance.world;
	for (uint32_t i = 0; i < 2; i++) {
		struct machine *machine = &world->machines[world->topology.hosts + i];
		check(!machine->is_host && machine->port_count <= 2 * LINKS_MAX);
		leaves[i] = (struct counted){.machine = *machine};
		machine->run = count_run;
		machine->self = &leaves[i];
	}
}

// Packets on the fullest of the links that lead up from `leaf`.
static uint32_t fullest_up(const struct single_run *single, uint32_t leaf)
{
	const struct world *world = &single->world_instance.world;
	uint32_t most = 0, hosts = world->topology.hosts;
	for (uint32_t i = 0; i < world->cable_count; i++) {
		const struct cable_plan *cable = &world->cables[i];
		if (cable->from_machine == hosts + leaf && cable->to_machine >= hosts &&
		    leaves[leaf].left[cable->from_port] > most)
			most = leaves[leaf].left[cable->from_port];
	}
	return most;
}

static int spray_measured(uint32_t n, uint32_t packets, uint32_t seed, double *ret_sum,
			  struct refusal *refusal)
{
	static struct single_run single;
	char text[1024], set[32];
	world_of(text, sizeof(text), n, "random", 8192, packets);
	snprintf(set, sizeof(set), "seed=%u", seed);
	const char *const sets[] = {set, NULL};
	single.before = watch_leaves;
	int rc = single_run_whole(&single, text, sets, NULL, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t leaf = 0; leaf < 2; leaf++)
		*ret_sum += (double)fullest_up(&single, leaf) / packets;
	single_run_end(&single);
	return 0;
}

static int spray(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const uint32_t packets[] = {20, 200};
	const uint32_t n = 16;
	for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++) {
		double mean, sd, sum = 0;
		char name[64];
		snprintf(name, sizeof(name), "spray-fullest-of-%u-links-%u", n, packets[i]);
		if (!choice_takes(choice, name))
			continue;
		fullest(n, n * packets[i], &mean, &sd);
		for (uint32_t seed = 1; seed <= SPRAY_SEEDS; seed++) {
			int rc = spray_measured(n, packets[i], seed, &sum, refusal);
			if (rc < 0)
				return rc;
		}
		struct claim claim = claim_of(name, "balls into bins", mean / packets[i],
					      3 * sd / packets[i] / sqrt(2 * SPRAY_SEEDS),
					      "3 standard errors of 40");
		claim.unit = "of mean";
		claim.measured = sum / (2 * SPRAY_SEEDS);
		claims_add(claims, &claim);
	}
	return 0;
}

int links_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	int rc = ecmp(choice, claims, refusal);
	return rc < 0 ? rc : spray(choice, claims, refusal);
}
