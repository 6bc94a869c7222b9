// SPDX-License-Identifier: Apache-2.0
// Random graphs: whatever is connected is built, every NIC reaches every NIC in every plane without
// a loop and by a shortest way, every port that a packet may take leads nearer, and the base round
// trip is that of the slowest shortest way, found here by trying them all.

#include "../unit/fabric/fabric_walks.h"

#define NODES_MAX 14u
#define LINKS_MAX_HERE 64u
#define WORLDS 150u

struct random_graph {
	char names[NODES_MAX][NODE_NAME_BYTES];
	struct graph_link links[LINKS_MAX_HERE];
	struct fabric_config config;
};

static void add(struct random_graph *graph, struct rng *rng, uint32_t a, uint32_t b)
{
	static const uint64_t rates[] = {0, 40000000000, 200000000000, 400000000000};
	struct graph_plan *plan = &graph->config.graph;
	struct graph_link *link = &graph->links[plan->link_count++];
	*link = (struct graph_link){.a = a, .b = b, .count = 1 + rng_below(rng, 3) / 2};
	link->rate_bps = rates[rng_below(rng, 4)];
	link->delay_ps = rng_below(rng, 2) ? -1 : (ps_t)(1000 + rng_below(rng, 5000000));
}

// A random tree, more links across it, and NICs anywhere.
static void draw(struct random_graph *graph, struct rng *rng)
{
	uint32_t nodes = 1 + rng_below(rng, NODES_MAX), nics = 2 + rng_below(rng, 9);
	memset(graph, 0, sizeof *graph);
	graph->config = rig_clos();
	graph->config.kind = TOPOLOGY_GRAPH;
	graph->config.nics = nics;
	graph->config.nics_per_host = nics % 2 == 0 ? 2 : 1;
	graph->config.planes = 1 + rng_below(rng, 3);
	graph->config.switch_delay_ps = rng_below(rng, 2) * 300000;
	graph->config.graph = (struct graph_plan){nodes, 0, graph->names, graph->links};
	for (uint32_t node = 1; node < nodes; node++)
		add(graph, rng, rng_below(rng, node), node);
	for (uint32_t i = 0; nodes > 1 && i < rng_below(rng, 2 * nodes); i++) {
		uint32_t a = rng_below(rng, nodes), b = rng_below(rng, nodes);
		if (a != b)
			add(graph, rng, a, b);
	}
	for (uint32_t nic = 0; nic < nics; nic++) {
		struct graph_link *link = &graph->links[graph->config.graph.link_count++];
		*link = (struct graph_link){.b = nic, .count = 1, .is_nic = true};
		link->a = nodes == 1 ? 0 : rng_below(rng, nodes);
		link->delay_ps = rng_below(rng, 2) ? -1 : 2500000;
	}
}

// Links from every switch of the first plane to switch `target`, over bare links.
static void measure(const struct topology *topology, uint32_t target, uint32_t *away)
{
	uint32_t nodes = topology->switch_count / topology->planes;
	for (uint32_t i = 0; i < nodes; i++)
		away[i] = i == target ? 0 : UINT32_MAX / 2;
	for (uint32_t round = 0; round < nodes; round++) {
		for (uint32_t i = 0; i < topology->link_count; i++) {
			const struct link_plan *link = &topology->links[i];
			if (link->tier == 0 || link->plane > 0)
				continue;
			uint32_t a = link->node_a - topology->hosts;
			uint32_t b = link->node_b - topology->hosts;
			away[a] = away[b] + 1 < away[a] ? away[b] + 1 : away[a];
			away[b] = away[a] + 1 < away[b] ? away[a] + 1 : away[b];
		}
	}
}

// The slowest of the shortest ways from a switch, for a packet of `bytes`, with what the link into
// the next switch takes; tries them all.
static ps_t slowest(const struct topology *topology, uint32_t at, const uint32_t *away,
		    uint32_t bytes, bool is_back)
{
	ps_t found = 0;
	if (away[at] == 0)
		return 0;
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		uint32_t a = link->node_a - topology->hosts, b = link->node_b - topology->hosts;
		if (link->tier == 0 || link->plane > 0 || (a != at && b != at))
			continue;
		uint32_t next = a == at ? b : a;
		if (away[next] + 1 != away[at])
			continue;
		bool is_ab = (a == at) != is_back;
		ps_t own = line_ps(line_of(link->rate_bps), bytes) +
			(is_ab ? link->delay_ab_ps : link->delay_ba_ps);
		found = ps_max(found, own + slowest(topology, next, away, bytes, is_back));
	}
	return found;
}

static const struct link_plan *cable_of(const struct topology *topology, uint32_t nic)
{
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		if (link->tier == 0 && link->plane == 0 &&
		    link->node_a * topology->nics_per_host + link->port_a / topology->planes == nic)
			return link;
	}
	fail_msg("NIC %u has no cable", nic);
	return NULL;
}

static ps_t round_trip(const struct topology *topology, const struct fabric_config *config,
		       uint32_t from, uint32_t to)
{
	uint32_t away[NODES_MAX];
	const struct link_plan *first = cable_of(topology, from), *last = cable_of(topology, to);
	line_t line = line_of(config->link_rate_bps);
	uint32_t start = first->node_b - topology->hosts;
	measure(topology, last->node_b - topology->hosts, away);
	return 2 * (line_ps(line, config->mtu_bytes) + line_ps(line, config->control_bytes)) +
		first->delay_ab_ps + first->delay_ba_ps + last->delay_ab_ps + last->delay_ba_ps +
		slowest(topology, start, away, config->mtu_bytes, false) +
		slowest(topology, start, away, config->control_bytes, true);
}

// Every port that a packet may take, not only the one that its hash says, leads one switch nearer.
static void assert_nearer(const struct topology *topology)
{
	uint32_t nodes = topology->switch_count / topology->planes;
	uint16_t ports[MACHINE_PORTS_MAX];
	uint32_t away[NODES_MAX];
	for (uint32_t nic = 0; nic < topology->nics; nic++) {
		measure(topology, topology->nic_switch[nic], away);
		for (uint32_t at = 0; at < topology->switch_count; at++) {
			uint32_t count = topology_ports(topology, at, nic, ports);
			uint32_t plane = at / nodes;
			assert_true(count > 0);
			for (uint32_t i = 0; i < count; i++) {
				uint32_t next = topology_behind(topology, at, ports[i]);
				if (away[at % nodes] == 0) {
					assert_int_equal(next, nic / topology->nics_per_host);
					continue;
				}
				next -= topology->hosts;
				assert_int_equal(next / nodes, plane);
				assert_int_equal(away[next % nodes] + 1, away[at % nodes]);
			}
		}
	}
}

static void random_graphs_are_walked_by_shortest_ways(void **state)
{
	struct rig *rig = *state;
	struct rng rng = rng_of(1, RNG_TEST, 23);
	for (uint32_t world = 0; world < WORLDS; world++) {
		struct random_graph graph;
		ps_t longest = 0;
		draw(&graph, &rng);
		memset(rig->memory, 0, 8 << 20);
		arena_init(&rig->arena, rig->memory, 8 << 20);
		struct topology topology = built(rig, &graph.config);
		assert_sound(&topology, &graph.config);
		assert_nearer(&topology);
		for (uint32_t from = 0; from < topology.nics; from++)
			for (uint32_t to = 0; to < topology.nics; to++)
				if (from != to)
					longest = ps_max(
						longest,
						round_trip(&topology, &graph.config, from, to));
		assert_int_equal(topology.base_rtt_ps, longest);
	}
}

static int set_up(void **state)
{
	static struct rig rig;
	rig_open(&rig);
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	rig_close(*state);
	return 0;
}
