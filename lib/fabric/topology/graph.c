// SPDX-License-Identifier: Apache-2.0
// From one plane as a graph to switches, ports and links of all planes. Planes are copies of each
// other: they differ in the salts of their switches alone, and share the tables. A switch has the
// ports to its NICs first, then those of its edges in their order.

#include "graph.h"

#include <errno.h>

#include <weft/core/check.h>
#include <weft/core/refusal.h>

// What differs between the kinds.
static const struct graph_kind {
	int (*size)(const struct fabric_config *config, struct refusal *refusal,
		    struct graph_size *ret);
	int (*fill)(struct graph *graph, const struct fabric_config *config,
		    struct refusal *refusal);
} kinds[TOPOLOGY_KIND_COUNT] = {
	[TOPOLOGY_DUMBBELL] = {dumbbell_size, dumbbell_fill},
	[TOPOLOGY_RAIL] = {rail_size, rail_fill},
	[TOPOLOGY_TORUS] = {torus_size, torus_fill},
	[TOPOLOGY_FILE] = {tree_size, tree_fill},
	[TOPOLOGY_GRAPH] = {listed_size, listed_fill},
};

void graph_join(struct graph *graph, const struct fabric_config *config, uint32_t a, uint32_t b,
		uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		graph->edges[graph->edge_count++] = (struct graph_edge){
			.a = a,
			.b = b,
			.rate_bps = trunk_rate(config),
			.delay_ps = config->trunk_delay_ps,
		};
}

static int check_size(const struct fabric_config *config, const struct graph_size *size,
		      struct refusal *refusal)
{
	if (config->trunk_sample_kept != config->trunk_sample_of)
		return refuse(refusal, -EINVAL,
			      "this topology cannot be thinned where a sample leaves out groups "
			      "(% of % run) that load its links: only trees can; run all groups",
			      config->trunk_sample_kept, config->trunk_sample_of);
	if (size->nodes == 0 || size->nodes > TOPOLOGY_TABLE_SWITCHES_MAX)
		return refuse(refusal, -EINVAL,
			      "% switches in a plane; tables of ways are made for 1 to % of them "
			      "(a clos and a fat-tree need none)",
			      (int64_t)size->nodes, TOPOLOGY_TABLE_SWITCHES_MAX);
	if ((size->edges + config->nics) * config->planes > LINKS_MAX)
		return refuse(refusal, -EINVAL, "% links in % planes are more than %",
			      (int64_t)(size->edges + config->nics), config->planes,
			      (int64_t)LINKS_MAX);
	return 0;
}

// ---------------------------------------------------------------- one plane

static int draw_graph(struct graph *ret, struct arena *arena, const struct fabric_config *config,
		      const struct graph_size *size)
{
	size_t nodes = size->nodes;
	*ret = (struct graph){
		.node_count = (uint32_t)nodes,
		.nic_count = config->nics,
		.edges = arena_draw(arena, ARENA_FABRIC, size->edges, sizeof(*ret->edges)),
		.nics = arena_draw(arena, ARENA_FABRIC, config->nics, sizeof(*ret->nics)),
		.switch_delay_ps = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(ps_t)),
		.tier = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(*ret->tier)),
		.index = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(*ret->index)),
		.nic_ports = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(*ret->nic_ports)),
		.end_first = arena_draw(arena, ARENA_FABRIC, nodes + 1, sizeof(*ret->end_first)),
		.ends = arena_draw(arena, ARENA_FABRIC, 2 * size->edges, sizeof(*ret->ends)),
		.nic_switch = arena_draw(arena, ARENA_FABRIC, config->nics, sizeof(uint16_t)),
		.nic_port = arena_draw(arena, ARENA_FABRIC, config->nics, sizeof(uint16_t)),
	};
	const void *const drawn[] = {ret->edges,     ret->nics,	 ret->switch_delay_ps,
				     ret->tier,	     ret->index, ret->nic_ports,
				     ret->end_first, ret->ends,	 ret->nic_switch,
				     ret->nic_port};
	for (uint32_t i = 0; i < sizeof(drawn) / sizeof(*drawn); i++)
		if (drawn[i] == NULL)
			return -ENOMEM;
	for (uint32_t node = 0; node < ret->node_count; node++) {
		ret->switch_delay_ps[node] = config->switch_delay_ps;
		ret->index[node] = node;
	}
	for (uint32_t nic = 0; nic < config->nics; nic++)
		ret->nics[nic].delay_ps = config->nic_delay_ps;
	return 0;
}

// Names that the kind makes itself; listed ones are there already.
static int name_nodes(struct graph *graph, struct arena *arena, const struct fabric_config *config)
{
	if (!topology_has_names(config->kind) || graph->names != NULL)
		return 0;
	graph->names = arena_draw(arena, ARENA_FABRIC, graph->node_count, sizeof(*graph->names));
	if (graph->names == NULL)
		return -ENOMEM;
	for (uint32_t node = 0; node < graph->node_count; node++)
		topology_name(config, node, graph->names[node]);
	return 0;
}

static uint32_t port_count(const struct graph *graph, uint32_t node)
{
	return graph->nic_ports[node] + graph->end_first[node + 1] - graph->end_first[node];
}

// Counts the edges of each switch, then adds up from switch to switch.
static void count_ends(struct graph *graph)
{
	for (uint32_t nic = 0; nic < graph->nic_count; nic++)
		graph->nic_ports[graph->nics[nic].node]++;
	for (uint32_t i = 0; i < graph->edge_count; i++) {
		graph->end_first[graph->edges[i].a + 1]++;
		graph->end_first[graph->edges[i].b + 1]++;
	}
	for (uint32_t node = 0; node < graph->node_count; node++)
		graph->end_first[node + 1] += graph->end_first[node];
}

static int check_ports(const struct graph *graph, struct refusal *refusal)
{
	for (uint32_t node = 0; node < graph->node_count; node++) {
		uint32_t ports = port_count(graph, node);
		if (ports == 0 || ports > PORTS_MAX)
			return refuse(refusal, -EINVAL,
				      "switch % of a plane would have % ports; it may have 1 to "
				      "% (fabric.topology clos, with fabric.nics_per_t0, and "
				      "fat-tree have smaller ones)",
				      node, ports, PORTS_MAX);
	}
	return 0;
}

// Gives every NIC and every edge its ports. `used` counts the ports given, switch by switch.
static void give_ports(struct graph *graph, uint32_t *used)
{
	for (uint32_t nic = 0; nic < graph->nic_count; nic++) {
		uint32_t node = graph->nics[nic].node;
		graph->nic_switch[nic] = (uint16_t)node;
		graph->nic_port[nic] = (uint16_t)used[node]++;
	}
	for (uint32_t i = 0; i < graph->edge_count; i++) {
		struct graph_edge *edge = &graph->edges[i];
		edge->port_a = used[edge->a]++;
		edge->port_b = used[edge->b]++;
		uint32_t at_a = edge->port_a - graph->nic_ports[edge->a];
		uint32_t at_b = edge->port_b - graph->nic_ports[edge->b];
		graph->ends[graph->end_first[edge->a] + at_a] = (struct graph_end){i, edge->b};
		graph->ends[graph->end_first[edge->b] + at_b] = (struct graph_end){i, edge->a};
	}
}

static int no_memory(const struct graph_size *size, struct refusal *refusal)
{
	return refuse(refusal, -ENOMEM, "no memory for the ways between % switches",
		      (int64_t)size->nodes);
}

static int fill_graph(struct graph *graph, struct arena *arena, const struct fabric_config *config,
		      struct refusal *refusal)
{
	int error = kinds[config->kind].fill(graph, config, refusal);
	if (error != 0)
		return error;
	uint32_t *used = arena_draw(arena, ARENA_FABRIC, graph->node_count, sizeof(*used));
	if (used == NULL || name_nodes(graph, arena, config) != 0)
		return -ENOMEM;
	count_ends(graph);
	error = check_ports(graph, refusal);
	if (error == 0)
		give_ports(graph, used);
	return error;
}

// ---------------------------------------------------------------- all planes

// The ports of a switch that lead up: in a graph without tiers, to any other switch.
static void find_up(const struct graph *graph, uint32_t node, struct switch_plan *plan)
{
	uint32_t first = graph->end_first[node], last = graph->end_first[node + 1];
	while (graph->names == NULL && first < last &&
	       graph->tier[graph->ends[first].peer] <= graph->tier[node])
		first++;
	plan->up_first = graph->nic_ports[node] + first - graph->end_first[node];
	plan->up_ports = last - first;
	plan->up_first = plan->up_ports > 0 ? plan->up_first : 0;
}

// The NICs of a switch where they are in a row; else all are equally near.
static void find_near(const struct graph *graph, uint32_t node, struct switch_plan *plan)
{
	uint32_t first = 0, last = 0, found = 0;
	for (uint32_t nic = 0; graph->nic_ports[node] > 0 && nic < graph->nic_count; nic++) {
		if (graph->nics[nic].node != node)
			continue;
		first = found == 0 ? nic : first;
		last = nic;
		found++;
	}
	bool is_row = found > 0 && last - first + 1 == found;
	plan->nics_first = is_row ? first : 0;
	plan->nics_count = is_row ? found : graph->nic_count;
}

static void topology_builder_switches(struct topology_builder *topology_builder,
				      const struct graph *graph, const struct route_table *tables)
{
	const struct switch_plan *plane0 = topology_builder->topology->switches;
	for (uint32_t node = 0; node < graph->node_count; node++) {
		struct switch_plan plan = {
			.tier = graph->tier[node],
			.index = graph->index[node],
			.port_count = port_count(graph, node),
			.route = {.span = 1, .table = &tables[node]},
		};
		find_up(graph, node, &plan);
		if (topology_builder->plane == 0) {
			find_near(graph, node, &plan);
		} else {
			plan.nics_first = plane0[node].nics_first;
			plan.nics_count = plane0[node].nics_count;
		}
		topology_builder_place(topology_builder, &plan);
	}
}

static void topology_builder_edge(struct topology_builder *topology_builder,
				  const struct graph *graph, const struct graph_edge *edge,
				  uint32_t first)
{
	uint8_t upper = graph->tier[edge->b];
	topology_builder_link(
		topology_builder,
		&(struct link_plan){
			.node_a = topology_builder->topology->hosts + first + edge->a,
			.node_b = topology_builder->topology->hosts + first + edge->b,
			.port_a = edge->port_a,
			.port_b = edge->port_b,
			.rate_bps = edge->rate_bps,
			.delay_ab_ps = edge->delay_ps + graph->switch_delay_ps[edge->b],
			.delay_ba_ps = edge->delay_ps + graph->switch_delay_ps[edge->a],
			.tier = upper > 1 ? upper : 1,
		});
}

static void topology_builder_plane(struct topology_builder *topology_builder,
				   const struct graph *graph, const struct route_table *tables)
{
	uint32_t first = topology_builder->switch_at;
	topology_builder_switches(topology_builder, graph, tables);
	for (uint32_t nic = 0; nic < graph->nic_count; nic++) {
		uint32_t node = graph->nics[nic].node;
		struct topology_builder_end end = {first + node, graph->nic_port[nic]};
		topology_builder_nic(topology_builder, nic, end, graph->nics[nic].delay_ps,
				     graph->switch_delay_ps[node]);
	}
	for (uint32_t i = 0; i < graph->edge_count; i++)
		topology_builder_edge(topology_builder, graph, &graph->edges[i], first);
}

static int draw_planes(struct topology *topology, struct arena *arena, const struct graph *graph,
		       struct refusal *refusal)
{
	uint32_t planes = topology->planes;
	size_t ports = ((size_t)graph->nic_count + 2 * (size_t)graph->edge_count) * planes;
	topology->switch_count = graph->node_count * planes;
	topology->link_count = (graph->nic_count + graph->edge_count) * planes;
	topology->switches = arena_draw(arena, ARENA_FABRIC, topology->switch_count,
					sizeof(*topology->switches));
	topology->links = arena_draw(arena, ARENA_FABRIC, topology->link_count,
				     sizeof(*topology->links));
	topology->port_links = arena_draw(arena, ARENA_FABRIC, ports,
					  sizeof(*topology->port_links));
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for % switches and % links",
			      topology->switch_count, topology->link_count);
	return 0;
}

// What follows from the links: the shortest delay and the highest rate.
static void measure_links(struct topology *topology)
{
	topology->delay_min_ps = PS_NEVER;
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		ps_t shortest = ps_min(link->delay_ab_ps, link->delay_ba_ps);
		topology->delay_min_ps = ps_min(topology->delay_min_ps, shortest);
		if (link->rate_bps > topology->rate_max_bps)
			topology->rate_max_bps = link->rate_bps;
	}
}

int graph_build(struct topology *topology, struct arena *arena, const struct fabric_config *config,
		uint64_t seed, struct refusal *refusal)
{
	struct graph graph;
	struct graph_size size;
	struct route_table *tables;
	struct shortest_paths_length length;
	int error = kinds[config->kind].size(config, refusal, &size);
	if (error == 0)
		error = check_size(config, &size, refusal);
	if (error != 0)
		return error;
	error = draw_graph(&graph, arena, config, &size);
	if (error == 0)
		error = fill_graph(&graph, arena, config, refusal);
	if (error == 0)
		error = shortest_paths_find(&tables, arena, &graph, config, refusal);
	if (error == 0)
		error = shortest_paths_measure(&length, arena, &graph, tables, config);
	if (error == 0)
		error = draw_planes(topology, arena, &graph, refusal);
	if (error != 0)
		return error == -ENOMEM ? no_memory(&size, refusal) : error;
	struct topology_builder topology_builder = {
		.topology = topology, .config = config, .seed = seed};
	for (topology_builder.plane = 0; topology_builder.plane < topology->planes;
	     topology_builder.plane++)
		topology_builder_plane(&topology_builder, &graph, tables);
	topology->nic_switch = graph.nic_switch;
	topology->names = graph.names;
	topology->links_max = length.links_max;
	topology->base_rtt_ps = length.base_rtt_ps;
	measure_links(topology);
	return 0;
}
