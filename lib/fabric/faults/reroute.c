// SPDX-License-Identifier: Apache-2.0
// The routes of switches over time. Plane by plane, at each time at which somebody learns of a link
// that went down or came back, a search finds who has a way left to whom, as far as others know;
// a switch whose ports change gets a table of them, as switches of graphs have, from that time on.
// Where nothing is wrong its own route is back.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>

#include "outage.h"
#include "switch/switch.h"

enum reachability { ROUTE_UNKNOWN, ROUTE_NONE_LEFT, ROUTE_LEFT };

// What is drawn once and used for every plane and time.
struct planner {
	struct arena *arena;
	const struct topology *topology;
	struct outages outages;
	uint32_t nodes, first;	       // switches of a plane; the first of this one
	const uint16_t *nic_switch;    // [nics] as in a route_table
	const uint16_t *nic_port;      // [nics]
	uint32_t *nic_at;	       // [nodes] a NIC of the switch, or ROUTE_NONE
	uint8_t *ways;		       // [nodes][nodes] enum way, from the first to the second
	ps_t times[REROUTE_TIMES_MAX]; // of this plane, ascending
	uint32_t time_count;
	ps_t now;
	// the table under way
	uint16_t *set_of;      // [nodes]
	struct port_set *sets; // [nodes + 1]
	uint16_t *ports;       // [ports_max]
	uint32_t set_count, port_count, ports_max;
	bool is_changed; // from the healthy one
};

// ---------------------------------------------------------------- times

static int add_time(struct planner *planner, ps_t at, struct refusal *refusal)
{
	uint32_t place = planner->time_count;
	while (place > 0 && planner->times[place - 1] >= at)
		place--;
	if (place < planner->time_count && planner->times[place] == at)
		return 0;
	if (planner->time_count == REROUTE_TIMES_MAX)
		return refuse(refusal, -EINVAL,
			      "routes of a plane would change more than % times: fewer flaps go "
			      "with fabric.reroute_local, or longer delays that do not see them",
			      REROUTE_TIMES_MAX);
	memmove(&planner->times[place + 1], &planner->times[place],
		(planner->time_count - place) * sizeof(ps_t));
	planner->times[place] = at;
	planner->time_count++;
	return 0;
}

// The times of all outages of a plane.
static int find_times(struct planner *planner, uint32_t plane, struct refusal *refusal)
{
	planner->time_count = 0;
	for (uint32_t i = 0; i < planner->outages.count; i++) {
		const struct outage *outage = &planner->outages.all[i];
		if (planner->topology->links[outage->link].plane != plane)
			continue;
		for (int knower = 0; knower < OUTAGE_KNOWERS; knower++)
			for (uint32_t edge = 0; edge < outage->count[knower]; edge++)
				if (add_time(planner, outage->at[knower][edge], refusal) != 0)
					return -EINVAL;
	}
	return 0;
}

// ---------------------------------------------------------------- ways

static bool knows_down(const struct planner *planner, uint32_t place, uint32_t port,
		       enum outage_knower knower)
{
	const struct topology *topology = planner->topology;
	uint32_t link = topology->port_links[topology->switches[place].port_first + port];
	return outage_is_down(&planner->outages, link, knower, planner->now);
}

// The node behind a port to another switch.
static uint32_t node_behind(const struct planner *planner, uint32_t place, uint32_t port)
{
	uint32_t behind = topology_behind(planner->topology, place, port);
	return behind - planner->topology->hosts - planner->first;
}

// Whether a way leads from a node to another, as switches far away know. Ways of the healthy fabric
// come nearer with every switch, so this ends.
static bool has_reachability(struct planner *planner, uint32_t node, uint32_t to)
{
	uint8_t *reachability = &planner->ways[(size_t)node * planner->nodes + to];
	uint16_t ports[MACHINE_PORTS_MAX];
	if (*reachability != ROUTE_UNKNOWN || node == to)
		return node == to || *reachability == ROUTE_LEFT;
	uint32_t place = planner->first + node;
	uint32_t count = topology_ports(planner->topology, place, planner->nic_at[to], ports);
	*reachability = ROUTE_NONE_LEFT;
	for (uint32_t i = 0; i < count && *reachability == ROUTE_NONE_LEFT; i++)
		if (!knows_down(planner, place, ports[i], OUTAGE_REMOTE) &&
		    has_reachability(planner, node_behind(planner, place, ports[i]), to))
			*reachability = ROUTE_LEFT;
	return *reachability == ROUTE_LEFT;
}

// ---------------------------------------------------------------- tables

// The number of the set with these ports: an older one, or a new one.
static uint16_t set_number(struct planner *planner, const uint16_t *ports, uint32_t count)
{
	for (uint32_t i = 0; i < planner->set_count; i++) {
		const struct port_set *set = &planner->sets[i];
		if (set->count == count &&
		    memcmp(planner->ports + set->first, ports, count * sizeof(*ports)) == 0)
			return (uint16_t)i;
	}
	check(planner->port_count + count <= planner->ports_max);
	memcpy(planner->ports + planner->port_count, ports, count * sizeof(*ports));
	planner->sets[planner->set_count] = (struct port_set){planner->port_count, count};
	planner->port_count += count;
	return (uint16_t)planner->set_count++;
}

// The ports that a switch uses towards a node; notes when some are missing.
static void find_set(struct planner *planner, uint32_t node, uint32_t to)
{
	uint32_t place = planner->first + node, left = 0;
	uint16_t ports[MACHINE_PORTS_MAX];
	uint32_t count = topology_ports(planner->topology, place, planner->nic_at[to], ports);
	for (uint32_t i = 0; i < count; i++)
		if (!knows_down(planner, place, ports[i], OUTAGE_LOCAL) &&
		    has_reachability(planner, node_behind(planner, place, ports[i]), to))
			ports[left++] = ports[i];
	planner->is_changed |= left < count;
	planner->set_of[to] = set_number(planner, ports, left);
}

static void find_table(struct planner *planner, uint32_t node)
{
	planner->set_count = planner->port_count = 0;
	planner->is_changed = false;
	for (uint32_t to = 0; to < planner->nodes; to++) {
		planner->set_of[to] = 0;
		if (to != node && planner->nic_at[to] != ROUTE_NONE)
			find_set(planner, node, to);
	}
}

// Whether a table of older times says the same as the one under way.
static bool is_same(const struct planner *planner, const struct route_table *table)
{
	if (table == NULL)
		return !planner->is_changed;
	return planner->is_changed &&
		memcmp(table->set_of, planner->set_of, planner->nodes * sizeof(uint16_t)) == 0 &&
		table->set_count == planner->set_count &&
		memcmp(table->sets, planner->sets, table->set_count * sizeof(*table->sets)) == 0 &&
		table->port_count == planner->port_count &&
		memcmp(table->ports, planner->ports, table->port_count * sizeof(uint16_t)) == 0;
}

static void *copy_of(struct arena *arena, const void *from, uint32_t count, size_t size)
{
	void *to = arena_draw(arena, ARENA_FABRIC, count + 1, size);
	if (to != NULL)
		memcpy(to, from, count * size);
	return to;
}

static int draw_table(struct route_table **ret, const struct planner *planner, uint32_t node)
{
	struct arena *arena = planner->arena;
	struct route_table *table = arena_draw(arena, ARENA_FABRIC, 1, sizeof(*table));
	if (table == NULL)
		return -ENOMEM;
	*table = (struct route_table){
		.nic_switch = planner->nic_switch,
		.nic_port = planner->nic_port,
		.nics = planner->topology->nics,
		.own = node,
		.set_of = copy_of(arena, planner->set_of, planner->nodes, sizeof(uint16_t)),
		.sets = copy_of(arena, planner->sets, planner->set_count, sizeof(*table->sets)),
		.ports = copy_of(arena, planner->ports, planner->port_count, sizeof(uint16_t)),
		.set_count = planner->set_count,
		.port_count = planner->port_count,
	};
	*ret = table;
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

// ---------------------------------------------------------------- routes over time

// The table under way as a switch's: NULL where nothing is wrong, an older one where it was so
// before, as with a link that flaps.
static int find_older(const struct route_table **ret, const struct planner *planner,
		      const struct switch_ *self, uint32_t node)
{
	struct route_table *table;
	*ret = NULL;
	if (!planner->is_changed)
		return 0;
	for (const struct route_epoch *epoch = self->next; epoch != NULL; epoch = epoch->next) {
		const struct route_table *older = epoch->route.table;
		if (older != NULL && older->own == node && is_same(planner, older)) {
			*ret = older;
			return 0;
		}
	}
	int rc = draw_table(&table, planner, node);
	*ret = table;
	return rc;
}

// Adds routes from `planner->now` on, if they differ from the last ones.
static int add_epoch(struct planner *planner, struct switch_ *self, uint32_t node)
{
	const struct route *healthy = &planner->topology->switches[planner->first + node].route;
	const struct route *last = &self->route;
	struct route_epoch **end = &self->next;
	const struct route_table *table;
	for (; *end != NULL; end = &(*end)->next)
		last = &(*end)->route;
	find_table(planner, node);
	if (is_same(planner, last->table == healthy->table ? NULL : last->table))
		return 0;
	struct route_epoch *epoch = arena_draw(planner->arena, ARENA_FABRIC, 1, sizeof(*epoch));
	if (epoch == NULL || find_older(&table, planner, self, node) != 0)
		return -ENOMEM;
	*epoch = (struct route_epoch){.at = planner->now, .route = *healthy};
	if (table != NULL)
		epoch->route = (struct route){.span = 1, .salt = healthy->salt, .table = table};
	*end = epoch;
	return 0;
}

static int plan_plane(struct planner *planner, struct switch_ **switches)
{
	for (uint32_t i = 0; i < planner->time_count; i++) {
		planner->now = planner->times[i];
		memset(planner->ways, ROUTE_UNKNOWN, (size_t)planner->nodes * planner->nodes);
		for (uint32_t node = 0; node < planner->nodes; node++)
			if (add_epoch(planner, switches[planner->first + node], node) != 0)
				return -ENOMEM;
	}
	return 0;
}

// ---------------------------------------------------------------- drawing

// Where NICs hang, as the tables of graphs know it.
static int find_nics(struct planner *planner)
{
	const struct topology *topology = planner->topology;
	uint16_t *at = arena_draw(planner->arena, ARENA_FABRIC, topology->nics, sizeof(*at));
	uint16_t *port = arena_draw(planner->arena, ARENA_FABRIC, topology->nics, sizeof(*port));
	if (arena_has_failed(planner->arena))
		return -ENOMEM;
	memset(planner->nic_at, 0xff, planner->nodes * sizeof(*planner->nic_at));
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i];
		if (link->tier != 0 || link->plane != 0)
			continue;
		uint32_t nic = link->node_a * topology->nics_per_host +
			link->port_a / topology->planes;
		uint32_t node = link->node_b - topology->hosts;
		at[nic] = (uint16_t)node;
		port[nic] = (uint16_t)link->port_b;
		planner->nic_at[node] = nic;
	}
	planner->nic_switch = at;
	planner->nic_port = port;
	return 0;
}

// All sets of ports of a switch that can differ hold at most its ports, once for each node.
static uint32_t ports_max(const struct topology *topology, uint32_t nodes)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < nodes; i++)
		if (topology->switches[i].port_count > most)
			most = topology->switches[i].port_count;
	return most * nodes;
}

static int planner_draw(struct planner *planner)
{
	struct arena *arena = planner->arena;
	uint32_t nodes = planner->nodes;
	planner->ports_max = ports_max(planner->topology, nodes);
	planner->nic_at = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(*planner->nic_at));
	planner->ways = arena_draw(arena, ARENA_FABRIC, (size_t)nodes * nodes, 1);
	planner->set_of = arena_draw(arena, ARENA_FABRIC, nodes, sizeof(*planner->set_of));
	planner->sets = arena_draw(arena, ARENA_FABRIC, nodes + 1, sizeof(*planner->sets));
	planner->ports = arena_draw(arena, ARENA_FABRIC, planner->ports_max, sizeof(uint16_t));
	if (arena_has_failed(arena))
		return -ENOMEM;
	return find_nics(planner);
}

int switches_reroute(struct switch_ **switches, struct arena *arena,
		     const struct topology *topology, const struct fabric_config *config,
		     const struct fault *faults, uint32_t fault_count, uint32_t *ret_fault,
		     struct refusal *refusal)
{
	struct planner *planner = arena_draw(arena, ARENA_FABRIC, 1, sizeof(*planner));
	if (planner == NULL)
		return -ENOMEM;
	*planner = (struct planner){.arena = arena,
				    .topology = topology,
				    .nodes = topology->switch_count / topology->planes};
	int rc = outages_find(&planner->outages, arena, topology, &config->reroute, faults,
			      fault_count, ret_fault, refusal);
	if (rc != 0 || planner->outages.count == 0)
		return rc;
	rc = planner_draw(planner);
	for (uint32_t plane = 0; plane < topology->planes && rc == 0; plane++) {
		planner->first = plane * planner->nodes;
		*ret_fault = fault_count;
		rc = find_times(planner, plane, refusal);
		if (rc == 0)
			rc = plan_plane(planner, switches);
	}
	return rc;
}
