// SPDX-License-Identifier: Apache-2.0
// Loads of links, found by following each pair switch by switch through the first plane: all planes
// are alike, and a NIC sends an equal part into each.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fabric_facts.h"

#define EVEN 0.97	     // of the fullest link's load: as full as that one
#define COUNTED_PAIRS 16384u // of more in a fabric that is not over-subscribed NICs are counted
#define SAMPLED_PAIRS 1024u  // whose ways are measured

struct walk {
	const struct fabric_facts *fabric_facts;
	const struct topology *topology;
	double *load;		     // [2 x link, + 1 from b to a] of a NIC port's rate
	double *part;		     // [switches of a plane] of a pair's traffic
	uint32_t *front[2], held[2]; // switches that it has come to
	double slowest;		     // link of its way, over a NIC port's rate
	double fullest;		     // load on its way
	bool is_adding;
};

static void pass(struct walk *walk, uint32_t at, uint32_t port, double part)
{
	const struct topology *topology = walk->topology;
	uint32_t index = topology->port_links[topology->switches[at].port_first + port];
	const struct link_plan *link = &topology->links[index];
	double rate = (double)link->rate_bps / (double)walk->fabric_facts->fabric->link_rate_bps;
	double *load = &walk->load[2 * (size_t)index + (link->node_a != topology->hosts + at)];
	if (walk->is_adding)
		*load += part / rate;
	walk->slowest = fmin(walk->slowest, rate);
	walk->fullest = fmax(walk->fullest, *load);
}

// All switches that the traffic has come to send it one link further. False where one has no way.
static bool step(struct walk *walk, uint32_t target, uint32_t side)
{
	uint16_t ports[MACHINE_PORTS_MAX];
	walk->held[!side] = 0;
	for (uint32_t i = 0; i < walk->held[side]; i++) {
		uint32_t at = walk->front[side][i];
		uint32_t count = topology_ports(walk->topology, at, target, ports);
		double each = walk->part[at] / count;
		if (count == 0)
			return false;
		for (uint32_t p = 0; p < count; p++) {
			uint32_t next = topology_behind(walk->topology, at, ports[p]) -
				walk->topology->hosts;
			pass(walk, at, ports[p], each);
			if (walk->part[next] == 0)
				walk->front[!side][walk->held[!side]++] = next;
			walk->part[next] += each;
		}
		walk->part[at] = 0;
	}
	return true;
}

// Follows a pair; false where there is no way.
static bool follow(struct walk *walk, const struct pair *pair, double weight)
{
	uint32_t from = topology_switch(walk->topology, pair->from), side = 0;
	uint32_t to = topology_switch(walk->topology, pair->to);
	walk->slowest = 1;
	walk->fullest = 0;
	walk->front[0][0] = from;
	walk->held[0] = 1;
	walk->part[from] = weight;
	while (walk->front[side][0] != to) {
		if (!step(walk, pair->to, side))
			return false;
		side = !side;
	}
	walk->part[to] = 0;
	return true;
}

static int walk_begin(struct walk *ret, const struct fabric_facts *fabric_facts)
{
	const struct topology *topology = fabric_facts->topology;
	uint32_t switches = topology->switch_count / topology->planes;
	*ret = (struct walk){
		.fabric_facts = fabric_facts,
		.topology = topology,
		.load = calloc(2 * (size_t)topology->link_count, sizeof(double)),
		.part = calloc(switches, sizeof(double)),
		.front = {calloc(switches, sizeof(uint32_t)), calloc(switches, sizeof(uint32_t))},
	};
	return ret->load == NULL || ret->part == NULL || ret->front[0] == NULL ||
			ret->front[1] == NULL
		? -ENOMEM
		: 0;
}

static void walk_end(struct walk *walk)
{
	free(walk->load);
	free(walk->part);
	free(walk->front[0]);
	free(walk->front[1]);
}

// The most that a NIC sends or takes, of its rate; -1: no memory.
static double fullest_nic(const struct fabric_facts *fabric_facts, const struct pair *pairs,
			  uint32_t count, double weight)
{
	double *load = calloc(2 * (size_t)fabric_facts->nics, sizeof(*load)), fullest = 0;
	if (load == NULL)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		load[2 * pairs[i].from] += weight;
		load[2 * pairs[i].to + 1] += weight;
		fullest = fmax(fullest, fmax(load[2 * pairs[i].from], load[2 * pairs[i].to + 1]));
	}
	free(load);
	return fullest;
}

static double mean_links(const struct fabric_facts *fabric_facts, const struct pair *pairs,
			 uint32_t count)
{
	uint32_t step = count > SAMPLED_PAIRS ? count / SAMPLED_PAIRS : 1, seen = 0;
	double links = 0;
	for (uint32_t i = 0; i < count; i += step, seen++)
		links += topology_links(fabric_facts->topology, fabric_facts->fabric, pairs[i].from,
					pairs[i].to);
	return links / seen;
}

// Adds all pairs, then looks for the one whose fullest link is emptiest.
static int load_links(struct walk *walk, struct carried *ret, const struct pair *pairs,
		      uint32_t count, double weight, double nic_load)
{
	double fullest = nic_load, emptiest = INFINITY, slowest = 1;
	walk->is_adding = true;
	for (uint32_t i = 0; i < count; i++) {
		if (!follow(walk, &pairs[i], weight))
			return -EINVAL;
		fullest = fmax(fullest, walk->fullest);
		slowest = fmin(slowest, walk->slowest);
	}
	walk->is_adding = false;
	for (uint32_t i = 0; i < count && fullest > nic_load; i++) {
		follow(walk, &pairs[i], weight);
		emptiest = fmin(emptiest, fmax(walk->fullest, nic_load));
	}
	ret->share = fullest > 1 ? weight / fullest : weight;
	ret->is_even = fullest <= 1 || emptiest >= EVEN * fullest;
	if (walk->fabric_facts->has_one_path && slowest < ret->share)
		ret->share = slowest;
	return 0;
}

int carry(struct carried *ret, const struct fabric_facts *fabric_facts, const struct pair *pairs,
	  uint32_t count, double weight)
{
	struct walk walk;
	double nic_load = fullest_nic(fabric_facts, pairs, count, weight);
	*ret = (struct carried){.share = weight, .is_even = true};
	if (nic_load < 0)
		return -ENOMEM;
	ret->links = mean_links(fabric_facts, pairs, count);
	if (fabric_facts->is_full && count > COUNTED_PAIRS) {
		ret->share = nic_load > 1 ? weight / nic_load : weight;
		return 0;
	}
	int rc = walk_begin(&walk, fabric_facts);
	if (rc == 0)
		rc = load_links(&walk, ret, pairs, count, weight, nic_load);
	walk_end(&walk);
	return rc;
}
