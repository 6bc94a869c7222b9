// SPDX-License-Identifier: Apache-2.0
// See fidelity.h.

#include "sections.h"

#include <string.h>

#include <weft/core/check.h>

#include <weft/result/figures.h>
#include <weft/result/put.h>

#define NOBODY_WAITED "nothing had to wait"
#define TOO_MANY_PORTS "not kept: more than 16,384 ports of switches"
static_assert(DEPTH_PORTS_MAX == 16384, "the text says so");

static const char *const groups[LINK_GROUP_COUNT] = {"nic_up", "trunk_up", "trunk_down",
						     "nic_down"};

// A port of a switch, by the cable that it leads to.
struct deep_port {
	uint32_t cable, most_bytes;
	const struct depth_series *series;
};

struct deep_ports {
	struct deep_port list[DEPTHS_WORST];
	uint32_t count;
	bool has_series;
};

// Keeps it among the deepest; of equal ones the first.
static void keep(struct deep_ports *ports, const struct deep_port *more)
{
	uint32_t at = ports->count;
	while (at > 0 && ports->list[at - 1].most_bytes < more->most_bytes)
		at--;
	if (at == DEPTHS_WORST || more->most_bytes == 0)
		return;
	uint32_t last = ports->count < DEPTHS_WORST ? ports->count++ : DEPTHS_WORST - 1;
	memmove(&ports->list[at + 1], &ports->list[at], (last - at) * sizeof(*ports->list));
	ports->list[at] = *more;
}

static void gather(struct deep_ports *ret, const struct world *world)
{
	const struct topology *topology = &world->topology;
	*ret = (struct deep_ports){.has_series = true};
	for (uint32_t i = 0; i < 2 * topology->link_count; i++) {
		const struct link_plan *link = &topology->links[i / 2];
		uint32_t node = i % 2 == 0 ? link->node_a : link->node_b;
		uint32_t port = i % 2 == 0 ? link->port_a : link->port_b;
		if (node < topology->hosts)
			continue;
		const struct switch_ *from = world->switches[node - topology->hosts];
		const struct depth_series *series = switch_port_depth(from, port)->series;
		struct deep_port more = {i, switch_port_watch(from, port)->queue_max_bytes, series};
		ret->has_series &= series != NULL;
		keep(ret, &more);
	}
}

// All in the widest bins of any of them.
static void put_ports(json_t *to, const struct world *world, const struct deep_ports *ports)
{
	ps_t bin_ps = DEPTH_BIN_PS;
	for (uint32_t i = 0; i < ports->count; i++)
		bin_ps = ps_max(bin_ps, ports->list[i].series->bin_ps);
	put_time(to, "bin_ps", bin_ps);
	json_t *array = array_in(to, "ports");
	for (uint32_t i = 0; i < ports->count; i++) {
		struct depth_series series = *ports->list[i].series;
		char name[WORLD_CABLE_NAME_BYTES];
		json_t *row = row_in(array);
		world_cable_name(world, ports->list[i].cable, name, sizeof(name));
		put_text(row, "cable", name);
		json_t *most = array_in(row, "most_bytes");
		depth_series_widen(&series, bin_ps);
		for (uint32_t bin = 0; bin <= series.at; bin++)
			json_array_append_new(most, json_integer(series.most_bytes[bin]));
	}
}

void depths_json(json_t *to, const struct report_input *input)
{
	const struct world *world = input->world;
	struct deep_ports ports;
	json_t *array = array_in(to, "depths");
	for (int group = LINK_TRUNK_UP; group < LINK_GROUP_COUNT; group++) {
		json_t *row = row_in(array);
		put_text(row, "group", groups[group]);
		quantiles_json(row, &world->links.depth[group], "bytes", is_sampled(input),
			       NOBODY_WAITED);
	}
	gather(&ports, world);
	if (!ports.has_series)
		put_reason(to, "depth_series", TOO_MANY_PORTS);
	else if (is_sampled(input))
		put_reason(to, "depth_series", NOT_IN_SAMPLE);
	else
		put_ports(object_in(to, "depth_series"), world, &ports);
}
