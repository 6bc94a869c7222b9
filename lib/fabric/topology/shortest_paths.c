// SPDX-License-Identifier: Apache-2.0
// The ways through a graph. From each switch a search, breadth first, finds how far all others are
// and by which ports the shortest ways to them begin; in a torus the rule of dimension order says
// the ports instead. The sets of ports are kept once per switch. What a way costs in time is found
// from the tables, target by target, nearest switches first.

#include <errno.h>
#include <string.h>

#include <weft/core/bitmap.h>
#include <weft/core/check.h>
#include <weft/core/refusal.h>
#include <weft/fabric/fabric_capacity.h>

#include "graph.h"

#define FAR UINT16_MAX // not reached

// What the search from one switch needs. All of it is drawn once and used again.
struct search {
	const struct graph *graph;
	const struct fabric_config *config;
	struct arena *arena;
	uint32_t words;	     // of a bitmap with the trunk ports of the largest switch
	uint16_t *distance;  // [nodes] switches away
	uint32_t *order;     // [nodes] by distance
	uint32_t reached;    // in order
	uint64_t *begin;     // [nodes][words] trunk ports by which the ways to a node begin
	uint16_t *set_of;    // [nodes] of the table under way
	uint32_t *set_node;  // [nodes] a node that has this set
	uint32_t *slots;     // hash table of set numbers + 1
	uint32_t slot_count; // a power of two
};

static int search_draw(struct search *ret, struct arena *arena, const struct graph *graph,
		       const struct fabric_config *config)
{
	size_t nodes = graph->node_count;
	uint32_t trunks = 0, slots = 4;
	for (uint32_t node = 0; node < nodes; node++) {
		uint32_t own = graph->end_first[node + 1] - graph->end_first[node];
		trunks = own > trunks ? own : trunks;
	}
	while (slots < 2 * nodes)
		slots *= 2;
	*ret = (struct search){
		.graph = graph,
		.config = config,
		.arena = arena,
		.words = trunks > 0 ? (uint32_t)BITMAP_WORDS(trunks) : 1,
		.distance = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(uint16_t)),
		.order = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(uint32_t)),
		.set_of = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(uint16_t)),
		.set_node = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(uint32_t)),
		.slots = arena_draw(arena, ARENA_FABRIC, slots, sizeof(uint32_t)),
		.slot_count = slots,
	};
	ret->begin = arena_draw(arena, ARENA_FABRIC, nodes * ret->words, sizeof(uint64_t));
	if (arena_has_failed(arena))
		return -ENOMEM;
	return 0;
}

static uint64_t *begin_of(const struct search *search, uint32_t node)
{
	return search->begin + (size_t)node * search->words;
}

// Notes that a shortest way to `end->peer` leads over `at`.
static void reach(struct search *search, uint32_t from, uint32_t at, uint32_t end_index)
{
	const struct graph_end *end = &search->graph->ends[end_index];
	uint16_t away = (uint16_t)(search->distance[at] + 1);
	if (search->distance[end->peer] == FAR) {
		search->distance[end->peer] = away;
		search->order[search->reached++] = end->peer;
	}
	if (search->distance[end->peer] != away)
		return;
	uint64_t *to = begin_of(search, end->peer);
	if (at == from) {
		bitmap_set(to, end_index - search->graph->end_first[from]);
		return;
	}
	const uint64_t *over = begin_of(search, at);
	for (uint32_t word = 0; word < search->words; word++)
		to[word] |= over[word];
}

// Finds all distances from a switch and the ports by which the ways begin.
static void search_from(struct search *search, uint32_t from)
{
	const struct graph *graph = search->graph;
	memset(search->distance, 0xff, graph->node_count * sizeof(*search->distance));
	memset(search->begin, 0,
	       (size_t)graph->node_count * search->words * sizeof(*search->begin));
	search->distance[from] = 0;
	search->order[0] = from;
	search->reached = 1;
	for (uint32_t i = 0; i < search->reached; i++) {
		uint32_t at = search->order[i];
		for (uint32_t end = graph->end_first[at]; end < graph->end_first[at + 1]; end++)
			reach(search, from, at, end);
	}
}

// Replaces the shortest ways by those that dimension order allows.
static void order_dimensions(struct search *search, uint32_t from)
{
	const struct graph *graph = search->graph;
	uint16_t ports[PORTS_MAX];
	for (uint32_t to = 0; to < graph->node_count; to++) {
		uint64_t *begin = begin_of(search, to);
		memset(begin, 0, search->words * sizeof(*begin));
		uint32_t count = torus_ports(graph, search->config, from, to, ports);
		for (uint32_t i = 0; i < count; i++)
			bitmap_set(begin, ports[i] - graph->nic_ports[from]);
	}
}

// ---------------------------------------------------------------- sets

static uint32_t hash_of(const struct search *search, const uint64_t *bits)
{
	uint64_t hash = 0;
	for (uint32_t word = 0; word < search->words; word++)
		hash = rng_mix(hash ^ bits[word]) + word;
	return (uint32_t)hash & (search->slot_count - 1);
}

// The number of the set of `node`: an older one with the same ports, or `count`.
static uint32_t set_number(struct search *search, uint32_t node, uint32_t count)
{
	const uint64_t *bits = begin_of(search, node);
	size_t bytes = search->words * sizeof(*bits);
	uint32_t slot = hash_of(search, bits);
	while (search->slots[slot] != 0) {
		uint32_t set = search->slots[slot] - 1;
		if (memcmp(begin_of(search, search->set_node[set]), bits, bytes) == 0)
			return set;
		slot = (slot + 1) & (search->slot_count - 1);
	}
	search->slots[slot] = count + 1;
	search->set_node[count] = node;
	return count;
}

static uint32_t ports_in(const struct search *search, uint32_t node)
{
	uint32_t ports = 0;
	for (uint32_t word = 0; word < search->words; word++)
		ports += (uint32_t)__builtin_popcountll(begin_of(search, node)[word]);
	return ports;
}

// Writes the ports of a node's set and returns how many.
static uint32_t put_ports(const struct search *search, uint32_t from, uint32_t node, uint16_t *ret)
{
	uint32_t count = 0;
	for (uint32_t word = 0; word < search->words; word++)
		for (uint64_t bits = begin_of(search, node)[word]; bits != 0; bits &= bits - 1) {
			uint32_t trunk = word * 64 + (uint32_t)__builtin_ctzll(bits);
			ret[count++] = (uint16_t)(search->graph->nic_ports[from] + trunk);
		}
	return count;
}

// Makes the table of a switch from what the search left.
static int make_table(struct route_table *ret, struct search *search, uint32_t from)
{
	const struct graph *graph = search->graph;
	uint32_t sets = 0, ports = 0;
	memset(search->slots, 0, search->slot_count * sizeof(*search->slots));
	for (uint32_t node = 0; node < graph->node_count; node++) {
		uint32_t set = set_number(search, node, sets);
		ports += set == sets ? ports_in(search, node) : 0;
		sets += set == sets;
		search->set_of[node] = (uint16_t)set;
	}
	uint16_t *set_of = arena_draw(search->arena, ARENA_FABRIC, graph->node_count,
				      sizeof(*set_of));
	struct port_set *own = arena_draw(search->arena, ARENA_FABRIC, sets, sizeof(*own));
	uint16_t *own_ports = arena_draw(search->arena, ARENA_FABRIC, ports, sizeof(*own_ports));
	if (arena_has_failed(search->arena))
		return -ENOMEM;
	memcpy(set_of, search->set_of, graph->node_count * sizeof(*set_of));
	for (uint32_t set = 0, used = 0; set < sets; set++) {
		own[set] = (struct port_set){used, 0};
		own[set].count = put_ports(search, from, search->set_node[set], own_ports + used);
		used += own[set].count;
	}
	*ret = (struct route_table){.nic_switch = graph->nic_switch,
				    .nic_port = graph->nic_port,
				    .nics = graph->nic_count,
				    .own = from,
				    .set_of = set_of,
				    .sets = own,
				    .ports = own_ports};
	return 0;
}

// That the search reached every switch, and none too far away. Rails may stand alone.
static int check_reach(const struct search *search, uint32_t from, struct refusal *refusal)
{
	const struct graph *graph = search->graph;
	uint32_t last = search->order[search->reached - 1];
	bool may_be_apart = search->config->kind == TOPOLOGY_RAIL;
	for (uint32_t node = 0; !may_be_apart && node < graph->node_count; node++)
		if (search->distance[node] == FAR)
			return refuse(refusal, -EINVAL,
				      "no way leads from switch % to switch % of a plane", from,
				      node);
	if (search->distance[last] + 1 > TOPOLOGY_PATH_MAX)
		return refuse(refusal, -EINVAL, "a way passes % switches; % is the most",
			      search->distance[last] + 1, TOPOLOGY_PATH_MAX);
	return 0;
}

int shortest_paths_find(struct route_table **ret, struct arena *arena, const struct graph *graph,
			const struct fabric_config *config, struct refusal *refusal)
{
	struct search search;
	struct route_table *tables = arena_draw(arena, ARENA_FABRIC, graph->node_count,
						sizeof(*tables));
	if (tables == NULL || search_draw(&search, arena, graph, config) != 0)
		return -ENOMEM;
	for (uint32_t from = 0; from < graph->node_count; from++) {
		search_from(&search, from);
		int error = check_reach(&search, from, refusal);
		if (error == 0 && config->kind == TOPOLOGY_TORUS)
			order_dimensions(&search, from);
		if (error == 0)
			error = make_table(&tables[from], &search, from);
		if (error != 0)
			return error;
	}
	*ret = tables;
	return 0;
}

// ---------------------------------------------------------------- lengths

// What is known of the ways to one target.
struct lengths {
	const struct graph *graph;
	const struct route_table *tables;
	uint32_t data_bytes, control_bytes;
	uint16_t *links;  // [nodes] links from here on, FAR where none lead there
	ps_t *data_ps;	  // [nodes] a full packet from here to the target, cables and switches
	ps_t *control_ps; // [nodes] a control packet, the same way back
	uint32_t *order;  // [nodes]
	ps_t *nic_ps;	  // [nodes][2] the two longest cables of NICs; -1 where there is none
};

static int lengths_draw(struct lengths *ret, struct arena *arena, const struct graph *graph)
{
	size_t nodes = graph->node_count;
	ret->links = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(*ret->links));
	ret->data_ps = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(ps_t));
	ret->control_ps = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(ps_t));
	ret->order = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(*ret->order));
	ret->nic_ps = arena_draw(arena, ARENA_FABRIC, 2 * nodes, sizeof(ps_t));
	if (arena_has_failed(arena))
		return -ENOMEM;
	memset(ret->nic_ps, 0xff, 2 * nodes * sizeof(ps_t));
	for (uint32_t nic = 0; nic < graph->nic_count; nic++) {
		ps_t *longest = ret->nic_ps + 2 * (size_t)graph->nics[nic].node;
		ps_t delay_ps = graph->nics[nic].delay_ps;
		if (delay_ps > longest[0]) {
			longest[1] = longest[0];
			longest[0] = delay_ps;
		} else if (delay_ps > longest[1]) {
			longest[1] = delay_ps;
		}
	}
	return 0;
}

// The slowest of the ways from `at`, whose next switches are known already.
static void length_from(struct lengths *lengths, uint32_t at, uint32_t target)
{
	const struct graph *graph = lengths->graph;
	const struct route_table *table = &lengths->tables[at];
	const struct port_set *set = &table->sets[table->set_of[target]];
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t trunk = table->ports[set->first + i] - graph->nic_ports[at];
		const struct graph_end *end = &graph->ends[graph->end_first[at] + trunk];
		const struct graph_edge *edge = &graph->edges[end->edge];
		ps_t way_ps = edge->delay_ps + graph->switch_delay_ps[at];
		line_t line = line_of(edge->rate_bps);
		ps_t data_ps = lengths->data_ps[end->peer] + way_ps +
			line_ps(line, lengths->data_bytes);
		ps_t control_ps = lengths->control_ps[end->peer] + way_ps +
			line_ps(line, lengths->control_bytes);
		lengths->data_ps[at] = ps_max(lengths->data_ps[at], data_ps);
		lengths->control_ps[at] = ps_max(lengths->control_ps[at], control_ps);
	}
}

// Finds the lengths of all ways to a target, from near to far; returns how many switches have one.
static uint32_t lengths_to(struct lengths *lengths, uint32_t target)
{
	const struct graph *graph = lengths->graph;
	uint32_t reached = 1;
	memset(lengths->links, 0xff, graph->node_count * sizeof(*lengths->links));
	memset(lengths->data_ps, 0, graph->node_count * sizeof(ps_t));
	memset(lengths->control_ps, 0, graph->node_count * sizeof(ps_t));
	lengths->links[target] = 0;
	lengths->order[0] = target;
	lengths->data_ps[target] = lengths->control_ps[target] = graph->switch_delay_ps[target];
	for (uint32_t i = 0; i < reached; i++) {
		uint32_t at = lengths->order[i];
		if (at != target)
			length_from(lengths, at, target);
		for (uint32_t end = graph->end_first[at]; end < graph->end_first[at + 1]; end++) {
			uint32_t peer = graph->ends[end].peer;
			if (lengths->links[peer] != FAR)
				continue;
			lengths->links[peer] = (uint16_t)(lengths->links[at] + 1);
			lengths->order[reached++] = peer;
		}
	}
	return reached;
}

int shortest_paths_measure(struct shortest_paths_length *ret, struct arena *arena,
			   const struct graph *graph, const struct route_table *tables,
			   const struct fabric_config *config)
{
	struct lengths lengths = {.graph = graph,
				  .tables = tables,
				  .data_bytes = head_of(config, config->mtu_bytes),
				  .control_bytes = head_of(config, config->control_bytes)};
	line_t line = line_of(fabric_nic_rate_least(config));
	ps_t ends_ps = line_ps(line, config->mtu_bytes) + line_ps(line, config->control_bytes) +
		line_ps(line, lengths.data_bytes) + line_ps(line, lengths.control_bytes);
	if (lengths_draw(&lengths, arena, graph) != 0)
		return -ENOMEM;
	*ret = (struct shortest_paths_length){0};
	for (uint32_t target = 0; target < graph->node_count; target++) {
		const ps_t *there = lengths.nic_ps + 2 * (size_t)target;
		uint32_t reached = there[0] < 0 ? 0 : lengths_to(&lengths, target);
		for (uint32_t i = 0; i < reached; i++) {
			uint32_t from = lengths.order[i];
			// from a switch to itself there are two NICs, not one twice
			ps_t here = lengths.nic_ps[2 * (size_t)from + (from == target)];
			if (here < 0)
				continue;
			ps_t rtt_ps = lengths.data_ps[from] + lengths.control_ps[from] + ends_ps +
				2 * (here + there[0]);
			uint32_t links = lengths.links[from] + 2u;
			ret->links_max = links > ret->links_max ? links : ret->links_max;
			ret->base_rtt_ps = ps_max(ret->base_rtt_ps, rtt_ps);
		}
	}
	return 0;
}
