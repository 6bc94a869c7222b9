// SPDX-License-Identifier: Apache-2.0
// ARP and neighbour discovery of one host. See loop.h.

#include <errno.h>
#include <string.h>

#include <weft/host/host.h>
#include <weft/wire/wire_neighbour.h>

#include "loop.h"

int neighbour_init(struct wall *wall)
{
	wall->hops = arena_draw(wall->world->arena, ARENA_DRIVE,
				(size_t)wall->machine.port_count * wall->world->topology.nics,
				sizeof(*wall->hops));
	return wall->hops == NULL ? -ENOMEM : 0;
}

static struct next_hop *hop_of(const struct wall *wall, uint32_t port, uint32_t nic)
{
	return &wall->hops[(size_t)port * wall->world->topology.nics + nic];
}

static uint32_t own_nic(const struct wall *wall, uint32_t port)
{
	return wall->host->first_nic + port / wall->host->planes;
}

static uint8_t plane_of(const struct wall *wall, uint32_t port)
{
	return (uint8_t)(port % wall->host->planes);
}

// The MAC that this end of a line has: the port's, where it says one.
static void own_mac(const struct wall *wall, const struct wall_port *wall_port, uint8_t ret[6])
{
	if (wall_port->has_mac)
		memcpy(ret, wall_port->mac, sizeof(wall_port->mac));
	else
		wire_mac(&wall->codec.nic, own_nic(wall, wall_port->port),
			 plane_of(wall, wall_port->port), ret);
}

void neighbour_address(const struct wall *wall, const struct packet *packet, uint32_t line,
		       struct frame *frame)
{
	const struct wall_port *wall_port = &wall->lines[line].wall_port;
	const struct next_hop *hop = hop_of(wall, wall_port->port, packet->target);
	uint8_t target[6], source[6];
	if (!hop->is_known && !wall_port->has_mac)
		return; // as it was built
	own_mac(wall, wall_port, source);
	if (hop->is_known)
		memcpy(target, hop->mac, sizeof(target));
	else
		wire_mac(&wall->codec.nic, packet->target, packet->plane, target);
	wire_put_macs(frame->bytes, target, source);
}

// ---------------------------------------------------------------- said

static void say(struct wall *wall, uint32_t line, const struct wire_neighbour *what)
{
	struct frame frame;
	struct ports *ports = wall->options.ports;
	if (!ports->ops->take(ports, &frame, 1)) {
		wall->counts.frames_missing++;
		return;
	}
	frame.length = wire_neighbour_build(what, frame.bytes);
	wall->counts.neighbours_said++;
	line_put(&wall->lines[line], ports, &frame, &wall->counts);
}

static void tell(struct wall *wall, uint32_t line, const uint8_t to[16], const uint8_t mac[6])
{
	const struct wall_port *wall_port = &wall->lines[line].wall_port;
	struct wire_neighbour what = {.tells = true};
	wire_address(&wall->codec.nic, own_nic(wall, wall_port->port),
		     plane_of(wall, wall_port->port), what.source);
	own_mac(wall, wall_port, what.source_mac);
	memcpy(what.target, to != NULL ? to : what.source, sizeof(what.target));
	if (mac != NULL)
		memcpy(what.target_mac, mac, sizeof(what.target_mac));
	say(wall, line, &what);
}

static void ask(struct wall *wall, uint32_t line, uint32_t nic)
{
	const struct wall_port *wall_port = &wall->lines[line].wall_port;
	uint8_t plane = plane_of(wall, wall_port->port);
	struct wire_neighbour what = {.tells = false};
	wire_address(&wall->codec.nic, own_nic(wall, wall_port->port), plane, what.source);
	own_mac(wall, wall_port, what.source_mac);
	wire_address(&wall->codec.nic, nic, plane, what.target);
	say(wall, line, &what);
}

void neighbour_announce(struct wall *wall, uint32_t port)
{
	uint32_t each = wall->world->topology.nics_per_host, nics = wall->world->topology.nics;
	for (uint32_t line = 0; line < wall->line_count; line++) {
		const struct wall_port *wall_port = &wall->lines[line].wall_port;
		if (wall_port->port != port)
			continue;
		tell(wall, line, NULL, NULL);
		bool is_alone = wall_port->peer != WALL_ANY_HOST;
		uint32_t first = is_alone ? wall_port->peer * each : 0;
		uint32_t end = is_alone ? first + each : nics;
		for (uint32_t nic = first; nic < end && nic - first < WALL_ASKED_MAX; nic++)
			if (nic / each != wall->options.host)
				ask(wall, line, nic);
	}
}

void wall_announce(struct wall *wall)
{
	for (uint32_t port = 0; port < wall->machine.port_count; port++)
		neighbour_announce(wall, port);
}

// ---------------------------------------------------------------- heard

static bool is_single(const uint8_t mac[6])
{
	return (mac[0] & 1) == 0 && (mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5]) != 0;
}

// The last word holds: a NIC that was swapped says so.
static void learn(struct wall *wall, uint32_t port, uint32_t nic, const uint8_t mac[6])
{
	struct next_hop *hop = hop_of(wall, port, nic);
	if (!is_single(mac) || (hop->is_known && memcmp(hop->mac, mac, sizeof(hop->mac)) == 0))
		return;
	wall->counts.neighbours_learnt += !hop->is_known;
	wall->counts.neighbours_moved += hop->is_known;
	memcpy(hop->mac, mac, sizeof(hop->mac));
	hop->is_known = true;
}

// A NIC of the world in the plane of a port.
static bool is_here(const struct wall *wall, uint32_t port, const uint8_t address[16],
		    uint32_t *ret_nic)
{
	uint8_t plane;
	return wire_nic(&wall->codec.nic, address, ret_nic, &plane) &&
		plane == plane_of(wall, port) && *ret_nic < wall->world->topology.nics;
}

bool neighbour_take(struct wall *wall, uint32_t line, const struct frame *frame)
{
	struct wire_neighbour heard;
	uint32_t port = wall->lines[line].wall_port.port, nic;
	if (!wire_neighbour_parse(frame->bytes, frame->length, &heard))
		return false;
	bool is_known = is_here(wall, port, heard.source, &nic);
	if (is_known && nic != own_nic(wall, port))
		learn(wall, port, nic, heard.source_mac);
	bool is_asked = !heard.tells && is_here(wall, port, heard.target, &nic) &&
		nic == own_nic(wall, port);
	if (is_asked)
		tell(wall, line, heard.source, heard.source_mac);
	wall->counts.neighbours_heard += is_known || is_asked;
	return is_known || is_asked;
}
