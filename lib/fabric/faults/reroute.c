// SPDX-License-Identifier: Apache-2.0
// The routes of switches over time. Plane by plane, at each time at which somebody learns of a link
// that went down or came back, a search finds who has a way left to whom, as far as others know;
// a switch whose ports change gets a table of them, as switches of graphs have, from that time on.
// Where nothing is wrong its own route is back.

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/fabric/fabric.h>

#include "switch/switch.h"

// When a link between switches is down, by the timeline of faults, and when switches believe it: a
// state that did not last as long as their delay was never seen.

enum outage_knower { OUTAGE_LOCAL, OUTAGE_REMOTE, OUTAGE_KNOWERS };

// A link that faults take down, either way: who receives nothing tells the other end.
struct outage {
	uint32_t link;
	uint32_t count[OUTAGE_KNOWERS];
	ps_t *at[OUTAGE_KNOWERS]; // believed to be down, up, down ... after these times
};

struct outages {
	uint32_t count;
	struct outage *all; // by link
	uint32_t *of;	    // [link_count] its place in `all` + 1; 0: always up
};

#define EDGES_MAX 65536u // of one link, before those that nobody sees are left out
#define TURNS_MAX (4 * EDGES_MAX)

// The faults of one link, and the times at which it goes down, up, down ...
struct search {
	const struct fault **faults;
	uint32_t fault_count;
	ps_t *edges; // [EDGES_MAX]
	uint32_t edge_count;
	ps_t *seen; // [EDGES_MAX]
};

static bool takes_down(const struct fault *fault)
{
	return fault->kind == FAULT_LINK_DOWN || fault->kind == FAULT_FLAP;
}

static bool is_down_by(const struct fault *fault, ps_t at)
{
	if (at < fault->from_ps || at >= fault->until_ps)
		return false;
	return fault->kind == FAULT_LINK_DOWN ||
		(at - fault->from_ps) % (fault->down_ps + fault->up_ps) < fault->down_ps;
}

static bool is_down(const struct search *search, ps_t at)
{
	for (uint32_t i = 0; i < search->fault_count; i++)
		if (is_down_by(search->faults[i], at))
			return true;
	return false;
}

// When the fault begins, ends or turns after `at`, or PS_NEVER.
static ps_t next_turn(const struct fault *fault, ps_t at)
{
	if (at >= fault->until_ps)
		return PS_NEVER;
	if (at < fault->from_ps)
		return fault->from_ps;
	if (fault->kind == FAULT_LINK_DOWN)
		return fault->until_ps;
	ps_t period = fault->down_ps + fault->up_ps, into = (at - fault->from_ps) % period;
	return ps_min(fault->until_ps,
		      at - into + (into < fault->down_ps ? fault->down_ps : period));
}

// Finds the edges of a link; false when there are too many.
static bool find_edges(struct search *search)
{
	bool was_down = false;
	uint32_t turns = 0;
	search->edge_count = 0;
	for (ps_t at = 0; at != PS_NEVER;) {
		bool down = is_down(search, at);
		if (search->edge_count == EDGES_MAX || turns++ == TURNS_MAX)
			return false;
		if (down != was_down)
			search->edges[search->edge_count++] = at;
		was_down = down;
		ps_t next = PS_NEVER;
		for (uint32_t i = 0; i < search->fault_count; i++)
			next = ps_min(next, next_turn(search->faults[i], at));
		at = next;
	}
	return true;
}

// Of the edges, those that somebody sees who waits `delay_ps`: a state that is over by then was
// none, and a link that is down from the start was always known to be.
static uint32_t see_edges(const struct search *search, ps_t delay_ps)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < search->edge_count && delay_ps > 0; i++) {
		bool goes_down = i % 2 == 0, believes_down = count % 2 == 1;
		ps_t at = search->edges[i];
		ps_t end = i + 1 < search->edge_count ? search->edges[i + 1] : PS_NEVER;
		if (goes_down == believes_down)
			continue;
		if (at == 0)
			search->seen[count++] = 0;
		else if (end - at > delay_ps)
			search->seen[count++] = at + delay_ps;
	}
	return count;
}

static int note_outage(struct outages *ret, struct arena *arena, const struct search *search,
		       const struct reroute_config *config, uint32_t link)
{
	const ps_t delays_ps[OUTAGE_KNOWERS] = {config->local_ps, config->remote_ps};
	struct outage *outage = &ret->all[ret->count];
	outage->link = link;
	for (int i = 0; i < OUTAGE_KNOWERS; i++) {
		uint32_t count = see_edges(search, delays_ps[i]);
		outage->count[i] = count;
		if (count == 0)
			continue;
		outage->at[i] = arena_draw(arena, ARENA_FABRIC, count, sizeof(ps_t));
		if (outage->at[i] == NULL)
			return -ENOMEM;
		memcpy(outage->at[i], search->seen, count * sizeof(ps_t));
	}
	ret->of[link] = ++ret->count;
	return 0;
}

// The faults that take the link down, as the search's.
static void gather(struct search *search, const struct topology *topology,
		   const struct fault *faults, uint32_t fault_count, uint32_t link)
{
	search->fault_count = 0;
	if (topology->links[link].tier == 0) // below it is one NIC, and no other way
		return;
	for (uint32_t i = 0; i < fault_count; i++)
		if (takes_down(&faults[i]) && link_location_hits(&faults[i].at, topology, link))
			search->faults[search->fault_count++] = &faults[i];
}

// The fault of the search that turns most often.
static uint32_t restless(const struct search *search, const struct fault *faults)
{
	const struct fault *worst = search->faults[0];
	for (uint32_t i = 0; i < search->fault_count; i++)
		if (search->faults[i]->kind == FAULT_FLAP)
			worst = search->faults[i];
	return (uint32_t)(worst - faults);
}

static int draw(struct search *search, struct outages *ret, struct arena *arena,
		const struct topology *topology, uint32_t fault_count)
{
	uint32_t links = topology->link_count;
	*search = (struct search){
		.faults = arena_draw(arena, ARENA_FABRIC, fault_count + 1, sizeof(void *)),
		.edges = arena_draw(arena, ARENA_FABRIC, EDGES_MAX, sizeof(ps_t)),
		.seen = arena_draw(arena, ARENA_FABRIC, EDGES_MAX, sizeof(ps_t)),
	};
	*ret = (struct outages){.of = arena_draw(arena, ARENA_FABRIC, links, sizeof(uint32_t))};
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

// -EINVAL when a link changes too often, by fault `ret_fault`; -ENOMEM.
static int outages_find(struct outages *ret, struct arena *arena, const struct topology *topology,
			const struct reroute_config *config, const struct fault *faults,
			uint32_t fault_count, uint32_t *ret_fault, struct refusal *refusal)
{
	struct search search;
	uint32_t hit = 0;
	if (draw(&search, ret, arena, topology, fault_count) != 0)
		return -ENOMEM;
	for (uint32_t link = 0; link < topology->link_count; link++) {
		gather(&search, topology, faults, fault_count, link);
		hit += search.fault_count > 0;
	}
	ret->all = arena_draw(arena, ARENA_FABRIC, hit + 1, sizeof(*ret->all));
	if (ret->all == NULL)
		return -ENOMEM;
	for (uint32_t link = 0; link < topology->link_count; link++) {
		gather(&search, topology, faults, fault_count, link);
		if (search.fault_count == 0)
			continue;
		if (!find_edges(&search)) {
			*ret_fault = restless(&search, faults);
			return refuse(refusal, -EINVAL,
				      "a link between switches goes down and up more than % times: "
				      "routes that reconverge need an end of its flaps (until)",
				      EDGES_MAX / 2);
		}
		if (note_outage(ret, arena, &search, config, link) != 0)
			return -ENOMEM;
	}
	return 0;
}

// Whether `knower` believes that the link is down, just after `at`.
static bool outage_is_down(const struct outages *outages, uint32_t link, enum outage_knower knower,
			   ps_t at)
{
	if (outages->of[link] == 0)
		return false;
	const struct outage *outage = &outages->all[outages->of[link] - 1];
	uint32_t low = 0, high = outage->count[knower]; // times up to `at`
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (outage->at[knower][middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low % 2 == 1;
}

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
