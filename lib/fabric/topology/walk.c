// SPDX-License-Identifier: Apache-2.0
// A built topology as those see it who walk through it: the ports that a packet may take, what is
// behind them, and what people call a switch.

#include <string.h>

#include <weft/core/check.h>
#include <weft/fabric/fabric_way.h>

#include "route.h"
#include "topology.h"

// Writes `count` ports from `first` on.
static uint32_t row(uint16_t *ret, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		ret[i] = (uint16_t)(first + i);
	return count;
}

static uint32_t table_ports(const struct route_table *table, uint32_t target, uint16_t *ret)
{
	if (target >= table->nics)
		return 0;
	if (table->nic_switch[target] == table->own)
		return row(ret, table->nic_port[target], 1);
	const struct port_set *set = &table->sets[table->set_of[table->nic_switch[target]]];
	memcpy(ret, table->ports + set->first, set->count * sizeof(*ret));
	return set->count;
}

uint32_t topology_ports(const struct topology *topology, uint32_t at, uint32_t target,
			uint16_t *ret)
{
	check(at < topology->switch_count);
	const struct route *route = &topology->switches[at].route;
	if (route->table != NULL)
		return table_ports(route->table, target, ret);
	if (target >= route->low && target < route->high) {
		uint32_t group = route_quotient(target - route->low, route->span_magic);
		return row(ret, group * route->down_links, route->down_links);
	}
	return row(ret, route->up_first, route->up_count);
}

uint32_t topology_behind(const struct topology *topology, uint32_t at, uint32_t port)
{
	const struct switch_plan *plan = &topology->switches[at];
	check(port < plan->port_count);
	const struct link_plan *link =
		&topology->links[topology->port_links[plan->port_first + port]];
	return link->node_a == topology->hosts + at ? link->node_b : link->node_a;
}

void topology_follow(const struct topology *topology, uint32_t first_link,
		     const struct packet *packet, uint64_t *counts)
{
	uint32_t hosts = topology->hosts, cable = 2 * first_link;
	uint32_t node = topology->links[first_link].node_b;
	counts[cable]++;
	for (uint32_t links = 1; node >= hosts; links++) {
		const struct switch_plan *plan = &topology->switches[node - hosts];
		uint32_t port = route_port(&plan->route, packet);
		check(port < plan->port_count && links < topology->links_max);
		uint32_t index = topology->port_links[plan->port_first + port];
		const struct link_plan *link = &topology->links[index];
		bool is_up = link->node_a == node;
		counts[2 * index + !is_up]++;
		node = is_up ? link->node_b : link->node_a;
	}
	check(node == packet->target / topology->nics_per_host);
}

bool topology_has_names(enum topology_kind kind)
{
	return kind == TOPOLOGY_DUMBBELL || kind == TOPOLOGY_TORUS || kind == TOPOLOGY_GRAPH;
}

// Writes a number and returns where it ends.
static char *put_number(char *at, uint32_t number)
{
	char digits[10];
	uint32_t count = 0;
	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

void topology_name(const struct fabric_config *config, uint32_t node, char ret[NODE_NAME_BYTES])
{
	if (config->kind == TOPOLOGY_DUMBBELL) {
		memcpy(ret, node == 0 ? "left" : "right", node == 0 ? 5 : 6);
		return;
	}
	check(config->kind == TOPOLOGY_TORUS);
	uint32_t dimensions = config->torus[2] > 1 ? 3 : 2;
	char *at = ret;
	for (uint32_t i = 0; i < dimensions; i++) {
		if (i > 0)
			*at++ = '.';
		at = put_number(at, i < 2 ? node % config->torus[i] : node);
		node /= config->torus[i];
	}
	*at = '\0';
}
