// SPDX-License-Identifier: Apache-2.0
// How the loop of one host comes to be, and how it ends.

#include <errno.h>

#include <weft/host/host.h>
#include <weft/world/world_work.h>
#include <weft/world/world_write_target.h>

#include "loop.h"

#define SLICE_PS (20 * PS_PER_US)
#define BURST_FRAMES (4u * PORT_BURST) // that a turn takes of each port
#define TURN_DIGITS 3
#define TURN_NS_MAX (UINT64_C(1) << 40)

static int refuse_memory(const struct world *world, struct refusal *refusal)
{
	return refuse(refusal, -ENOMEM, "the world does not fit into % MiB: raise limits.memory",
		      (int64_t)(world->arena->size >> 20));
}

int wall_check(const struct world *world, struct refusal *refusal)
{
	if (world->fabric.pfc.is_on)
		return refuse(refusal, -EINVAL,
			      "queue.pfc: pause frames have no bytes here, so ports cannot pause "
			      "each other");
	if (world->coll_stream != NULL)
		return refuse(refusal, -EINVAL,
			      "traffic.messages: a host has to know all messages before it "
			      "starts: stored goes with it");
	if (world->skipped != NULL)
		return refuse(refusal, -EINVAL, "fast_forward.steady is for virtual time");
	return link_faults_check(world, refusal);
}

static int check_ways(const struct world *world, const struct wall_options *options,
		      struct refusal *refusal)
{
	uint32_t ports = world->machines[options->host].port_count;
	for (uint32_t i = 0; i < options->wall_port_count; i++)
		check(options->wall_ports[i].port < ports &&
		      (i == 0 || options->wall_ports[i].port >= options->wall_ports[i - 1].port));
	if (options->wall_port_count < ports)
		return refuse(refusal, -EINVAL,
			      "the host has % NIC ports (one for each plane), and % ports were "
			      "given",
			      ports, options->wall_port_count);
	return 0;
}

static void *draw(struct wall *wall, size_t count, size_t bytes)
{
	return arena_draw(wall->world->arena, ARENA_DRIVE, count, bytes);
}

static int draw_lines(struct wall *wall)
{
	const struct world *world = wall->world;
	uint32_t ports = wall->machine.port_count, hosts = world->topology.hosts;
	const struct wall_options *options = &wall->options;
	wall->lines = draw(wall, options->wall_port_count, sizeof(*wall->lines));
	wall->line_of = draw(wall, (size_t)ports * hosts, sizeof(*wall->line_of));
	if (wall->lines == NULL || wall->line_of == NULL)
		return -ENOMEM;
	wall->line_count = options->wall_port_count;
	for (uint32_t i = 0; i < wall->line_count; i++) {
		const struct wall_port *wall_port = &options->wall_ports[i];
		if (line_init(&wall->lines[i], world->arena, wall_port) < 0)
			return -ENOMEM;
		for (uint32_t host = 0; host < hosts; host++)
			if (wall_port->peer == WALL_ANY_HOST || wall_port->peer == host)
				wall->line_of[wall_port->port * hosts + host] = (uint16_t)i;
	}
	return 0;
}

// The cables of the world that the host's ports stand for.
static int draw_cables(struct wall *wall)
{
	const struct world *world = wall->world;
	uint32_t ports = wall->machine.port_count;
	wall->cable_in = draw(wall, ports, sizeof(uint32_t));
	wall->cable_out = draw(wall, ports, sizeof(uint32_t));
	wall->faults_in = draw(wall, ports, sizeof(*wall->faults_in));
	wall->faults_out = draw(wall, ports, sizeof(*wall->faults_out));
	if (wall->cable_in == NULL || wall->cable_out == NULL || wall->faults_in == NULL ||
	    wall->faults_out == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < world->cable_count; i++) {
		const struct cable_plan *plan = &world->cables[i];
		if (plan->from_machine == wall->options.host)
			wall->cable_out[plan->from_port] = i;
		if (plan->to_machine == wall->options.host)
			wall->cable_in[plan->to_port] = i;
	}
	for (uint32_t i = 0; i < ports; i++) {
		link_faults_init(&wall->faults_in[i], world, wall->cable_in[i]);
		link_faults_init(&wall->faults_out[i], world, wall->cable_out[i]);
	}
	return 0;
}

// The most that leaves in one slice: every port busy with the smallest packets.
static uint32_t departures_max(const struct wall *wall)
{
	const struct world *world = wall->world;
	const struct transport_config *transport = &world->transport;
	uint32_t smallest = transport->header_bytes + 1;
	if (transport->control_bytes < smallest)
		smallest = transport->control_bytes;
	ps_t shortest = line_ps(line_of(world->fabric.link_rate_bps), smallest);
	uint64_t each = (uint64_t)(wall->slice_ps / (shortest > 0 ? shortest : 1)) + 3;
	return (uint32_t)(wall->machine.port_count * each) + 2 * wall->arrivals_max;
}

static int draw_outbox(struct wall *wall)
{
	struct world *world = wall->world;
	struct outbox *out = &wall->out;
	out->packets = &world->packets;
	out->chunks = &world->chunks;
	out->capacity = departures_max(wall);
	out->departures = draw(wall, out->capacity, sizeof(*out->departures));
	out->dma_write_capacity = wall->arrivals_max + world_moves_max(world);
	out->dma_writes = draw(wall, out->dma_write_capacity, sizeof(*out->dma_writes));
	return out->departures == NULL || out->dma_writes == NULL ? -ENOMEM : 0;
}

static int draw_inbox(struct wall *wall)
{
	wall->arrivals_max = wall->options.wall_port_count * BURST_FRAMES;
	wall->arrivals = draw(wall, wall->arrivals_max, sizeof(*wall->arrivals));
	wall->scratch[0] = draw(wall, wall->arrivals_max, sizeof(*wall->arrivals));
	wall->scratch[1] = draw(wall, wall->arrivals_max, sizeof(*wall->arrivals));
	wall->runs = draw(wall, wall->machine.port_count, sizeof(*wall->runs));
	return wall->arrivals == NULL || wall->scratch[0] == NULL || wall->scratch[1] == NULL ||
			wall->runs == NULL
		? -ENOMEM
		: 0;
}

static int draw_all(struct wall *wall)
{
	if (draw_inbox(wall) < 0 || draw_outbox(wall) < 0 || draw_lines(wall) < 0 ||
	    draw_cables(wall) < 0 || neighbour_init(wall) < 0 ||
	    codec_seen(&wall->codec, wall->world, wall->options.host, 1, &wall->seen) < 0 ||
	    link_init(wall) < 0 || fired_init(wall) < 0)
		return -ENOMEM;
	wall->backing = (struct backing){.codec = &wall->codec,
					 .ports = wall->options.ports,
					 .packets = wall->out.packets,
					 .options = &wall->options.payload};
	wall->counts.turn_ns = &wall->turn_ns;
	wall->counts.burst_ns = &wall->burst_ns;
	struct arena *arena = wall->world->arena;
	bool has_room = backing_init(&wall->backing, arena) == 0 &&
		hist_init(&wall->turn_ns, arena, TURN_DIGITS, TURN_NS_MAX) == 0 &&
		hist_init(&wall->burst_ns, arena, TURN_DIGITS, TURN_NS_MAX) == 0;
	return has_room ? 0 : -ENOMEM;
}

static int open_taps(struct wall *wall, struct refusal *refusal)
{
	const struct tap_options *taps = &wall->options.taps;
	if (taps->pcap == NULL && taps->log == NULL)
		return 0;
	int rc = tap_check_near(wall->world, refusal);
	return rc < 0 ? rc : tap_open(&wall->taps, wall->world, taps, &wall->codec, 1, refusal);
}

int wall_create(struct wall **ret, struct world *world, const struct wall_options *options,
		struct refusal *refusal)
{
	check(options->host < world->topology.hosts);
	int rc = wall_check(world, refusal);
	if (rc == 0)
		rc = check_ways(world, options, refusal);
	if (rc < 0)
		return rc;
	struct wall *wall = arena_draw(world->arena, ARENA_DRIVE, 1, sizeof(*wall));
	if (wall == NULL)
		return refuse_memory(world, refusal);
	*wall = (struct wall){.machine = world->machines[options->host],
			      .host = world->hosts[options->host],
			      .world = world,
			      .options = *options,
			      .slice_ps = SLICE_PS,
			      .work_total = world_work_of(world, options->host)};
	rc = codec_init(&wall->codec, world, refusal);
	wall->codec.ports = &wall->options.payload;
	if (rc == 0 && wall->codec.frame_bytes_max > options->ports->frame_bytes_max)
		rc = refuse(refusal, -EINVAL,
			    "frames of % bytes do not fit into ports, which carry %: lower "
			    "transport.payload",
			    wall->codec.frame_bytes_max, options->ports->frame_bytes_max);
	if (rc == 0 && draw_all(wall) < 0)
		rc = refuse_memory(world, refusal);
	if (rc == 0)
		rc = open_taps(wall, refusal);
	if (rc < 0)
		return rc;
	wall->missed_before = missed_by_ports(wall);
	arena_seal(world->arena);
	*ret = wall;
	return 0;
}

int wall_close(struct wall *wall, struct tap_counts *ret_taps, struct refusal *refusal)
{
	for (uint32_t i = 0; i < wall->line_count; i++)
		line_clear(&wall->lines[i], wall->options.ports, &wall->counts);
	*ret_taps = (struct tap_counts){0};
	return wall->taps == NULL ? 0 : tap_close(wall->taps, wall->until, ret_taps, refusal);
}
