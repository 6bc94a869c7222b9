// SPDX-License-Identifier: Apache-2.0
// See loop.h.

#include <errno.h>

#include <weft/host/host.h>

#include "loop.h"

#define LOOK_PS (500 * PS_PER_US) // between two looks: one may be a call of the system

int link_init(struct wall *wall)
{
	struct arena *arena = wall->world->arena;
	uint32_t ports = wall->machine.port_count;
	wall->cut = arena_draw(arena, ARENA_DRIVE, ports, sizeof(*wall->cut));
	wall->links = arena_draw(arena, ARENA_DRIVE, ports, sizeof(*wall->links));
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < ports; i++)
		wall->links[i].other_since = PS_NEVER;
	wall->host->cut = wall->cut;
	return 0;
}

// A port whose every way is dead: it has no link, or takes nothing.
static bool is_cut(const struct wall *wall, uint32_t port)
{
	const struct ports *ports = wall->options.ports;
	for (uint32_t i = 0; i < wall->line_count; i++) {
		const struct line *line = &wall->lines[i];
		if (line->wall_port.port == port && !line->is_down &&
		    (ports->ops->is_up == NULL ||
		     ports->ops->is_up(ports, line->wall_port.rx_queue)))
			return false;
	}
	return true;
}

// Whether the port is, and has been for long enough, otherwise than its NIC was informed.
static bool has_changed(struct wall *wall, uint32_t port, ps_t at)
{
	struct link *link = &wall->links[port];
	ps_t detect_ps = wall->world->scenario->port_detect_ps;
	if (is_cut(wall, port) == wall->cut[port]) {
		link->other_since = PS_NEVER;
		return false;
	}
	link->other_since = ps_min(link->other_since, at);
	if (at - link->other_since >= detect_ps) {
		link->other_since = PS_NEVER;
		return true;
	}
	wall->links_at = ps_min(wall->links_at, link->other_since + detect_ps);
	return false;
}

void link_look(struct wall *wall, ps_t at)
{
	if (at < wall->links_at || !wall->world->transport.port_status)
		return;
	wall->links_at = at + LOOK_PS;
	for (uint32_t port = 0; port < wall->machine.port_count; port++) {
		bool was_cut = wall->cut[port];
		if (!has_changed(wall, port, at))
			continue;
		wall->cut[port] = !was_cut;
		wall->counts.links_lost += !was_cut;
		wall->counts.links_back += was_cut;
		host_link(wall->host, port, wall->until, &wall->out);
		wall->next = wall->until;
		if (was_cut) // the cable may lead to somewhere else now
			neighbour_announce(wall, port);
	}
}
