// SPDX-License-Identifier: Apache-2.0
// How a run comes to be: cables, lanes, ports and taps, drawn from the world's arena, which is
// sealed at the end.

#include <errno.h>
#include <string.h>

#include <weft/world/world_signal.h>

#include "lane.h"
#include "processes/boundary.h"
#include "sim.h"

// The longest that a packet takes onto a cable.
static ps_t slowest_ps(const struct world *world, const struct cable_plan *plan)
{
	uint32_t rate_ppb = SHARE_WHOLE;
	for (uint32_t i = 0; i < plan->fault_count; i++) {
		const struct cable_fault *fault = &world->cable_faults[plan->fault_first + i];
		if (fault->kind == FAULT_SLOW && fault->rate_ppb < rate_ppb)
			rate_ppb = fault->rate_ppb;
	}
	return line_ps(line_slowed(plan->line, rate_ppb), world_packet_bytes_max(world));
}

// The longest time between a window's start and an arrival that a machine causes in it.
static ps_t cable_span_ps(const struct world *world)
{
	ps_t longest = 0;
	for (uint32_t i = 0; i < world->cable_count; i++)
		longest = ps_max(longest,
				 world->cables[i].delay_ps + slowest_ps(world, &world->cables[i]));
	return world->window_ps + longest;
}

// The unit of arrivals: the least that the longest cable allows.
static uint8_t cable_unit_shift(const struct world *world)
{
	uint8_t shift = 0;
	while (cable_span_ps(world) >= CABLE_SPAN_UNITS << shift && shift < CABLE_UNIT_SHIFT_MAX)
		shift++;
	return shift;
}

static int refuse_memory(const struct world *world, struct refusal *refusal)
{
	return refuse(refusal, -ENOMEM, "the world does not fit into % MiB: raise limits.memory",
		      (int64_t)(world->arena->size >> 20));
}

// One lane runs the machines of all shards.
static uint32_t lane_of(const struct sim *sim, uint32_t machine)
{
	return sim->lane_count == 1 ? 0 : sim->world->shard_of[machine];
}

static bool is_own(const struct sim *sim, uint32_t machine)
{
	const struct ranks *ranks = sim->options.ranks;
	return ranks == NULL || sim->world->shard_of[machine] == ranks->index;
}

// ---------------------------------------------------------------- ports

// The most packets that a cable takes in one window: the smallest ones, back to back.
static uint32_t window_frames(const struct world *world, const struct cable_plan *plan)
{
	uint32_t smallest = world->transport.header_bytes + 1;
	if (world->transport.control_bytes < smallest)
		smallest = world->transport.control_bytes;
	if (world->fabric.trim_on && world->fabric.trim_bytes < smallest)
		smallest = world->fabric.trim_bytes;
	ps_t shortest = line_ps(plan->line, smallest);
	return (uint32_t)(world->window_ps / (shortest > 0 ? shortest : 1)) + 2;
}

static struct port_cable *describe_cables(const struct sim *sim, const struct cable_set *cables)
{
	const struct world *world = sim->world;
	struct port_cable *ret = arena_draw(world->arena, ARENA_DRIVE, cables->count, sizeof(*ret));
	for (uint32_t i = 0; ret != NULL && i < cables->count; i++) {
		const struct cable_plan *plan = &world->cables[cables->plan[i]];
		ret[i] = (struct port_cable){
			.from_lane = (uint8_t)lane_of(sim, plan->from_machine),
			.to_lane = (uint8_t)lane_of(sim, plan->to_machine),
			.frames_max = window_frames(world, plan) +
				(cables->cables[i].has_reorder_queue ? REORDER_QUEUE_MAX
								     : 0), // copies
		};
	}
	return ret;
}

static int open_ports(struct sim *sim, const struct cable_set *cables, struct refusal *refusal)
{
	struct world *world = sim->world;
	const struct ports_options *options = &sim->options.ports;
	bool is_ring = options->kind == PORTS_RING;
	uint32_t queues = is_ring && options->port_count > 0
		? options->port_count * ports_ring_queues()
		: is_ring ? ports_ring_max() * ports_ring_queues()
			  : UINT32_MAX;
	struct ports *ports = arena_draw(world->arena, ARENA_DRIVE, 1, sizeof(*ports));
	struct port_cable *described = describe_cables(sim, cables);
	if (ports == NULL || described == NULL)
		return refuse_memory(world, refusal);
	ports->frames = world->packets.capacity;
	ports->frame_bytes_max = sim->codec.frame_bytes_max;
	ports->port_count = options->port_count;
	struct dpdk_options dpdk = options->dpdk;
	if (dpdk.lanes < sim->lane_count) // it may be more: lcores for later runs
		dpdk.lanes = sim->lane_count;
	int rc = port_plan(ports, world->arena, described, cables->count, queues, refusal);
	if (rc == 0)
		rc = is_ring ? port_dpdk_open(ports, world->arena, &dpdk, refusal)
			     : port_memory_open(ports, world->arena, refusal);
	if (rc == 0 && codec_seen(&sim->codec, world, 0, world->topology.hosts, &sim->seen) < 0)
		rc = refuse_memory(world, refusal);
	if (rc == 0)
		sim->ports = ports;
	return rc;
}

// ---------------------------------------------------------------- lanes

static int create_lane(struct sim *sim, uint32_t index, const struct cable_set *cables)
{
	struct world *world = sim->world;
	struct lane *lane = &sim->lanes[index];
	lane->sim = sim;
	lane->index = index;
	lane->shard = sim->options.ranks != NULL ? sim->options.ranks->index : index;
	lane->hears = sim->lane_count > 1 || sim->options.ranks != NULL ? lane->shard
									: WORLD_EVERY_SHARD;
	lane->cables = *cables;
	lane->out.packets = &world->packets;
	lane->out.chunks = &world->chunks;
	lane->codec = &sim->codec;
	lane->ports = sim->ports;
	lane->watch = &sim->options.ports;
	if (lane_init(lane, world, cable_span_ps(world), world->arena) < 0)
		return -ENOMEM;
	uint64_t signal_queue = sim->lane_count > 1 ? world_signals_total(world) : 0;
	lane->signal_queue = arena_draw(world->arena, ARENA_DRIVE, signal_queue,
					sizeof(struct signal));
	lane->news_of = arena_draw(world->arena, ARENA_DRIVE, sim->lane_count, sizeof(uint64_t *));
	if (arena_has_failed(world->arena))
		return -ENOMEM;
	return sim->ports == NULL ? 0 : frames_init(lane, world, world->arena);
}

static int create_lanes(struct sim *sim, const struct cable_set *cables)
{
	struct world *world = sim->world;
	sim->lanes = arena_draw(world->arena, ARENA_DRIVE, sim->lane_count, sizeof(struct lane));
	if (sim->lanes == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < sim->lane_count; i++)
		if (create_lane(sim, i, cables) < 0)
			return -ENOMEM;
	for (uint32_t i = 0; i < sim->lane_count; i++)
		for (uint32_t k = 0; k < sim->lane_count; k++)
			sim->lanes[i].news_of[k] = sim->lanes[k].news;
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->machines[m].is_host && is_own(sim, m)) // may start something at time 0
			window_mark(&sim->lanes[lane_of(sim, m)].windows, m, 0);
	return 0;
}

// ---------------------------------------------------------------- all of it

static int check_options(const struct world *world, const struct sim_options *options,
			 uint32_t lanes, struct refusal *refusal)
{
	ps_t span_ps = cable_span_ps(world);
	ps_t most_ps = CABLE_SPAN_UNITS << CABLE_UNIT_SHIFT_MAX;
	if (options->ports.kind == PORTS_NONE && span_ps >= most_ps)
		return refuse(refusal, -EINVAL,
			      "the longest cable takes % ns end to end; at most % ns are supported",
			      span_ps / PS_PER_NS, most_ps / PS_PER_NS);
	bool has_bytes = options->ports.kind != PORTS_NONE || options->taps.pcap != NULL ||
		options->taps.log != NULL;
	if (world->fabric.pfc.is_on &&
	    (options->ports.kind != PORTS_NONE || options->taps.log != NULL))
		return refuse(refusal, -EINVAL,
			      "queue.pfc needs a run without frames (--ports none) and without "
			      "--log: pauses are not packets there");
	if (world->skipped != NULL &&
	    (has_bytes || options->pace.is_on || options->external_compute != NULL))
		return refuse(
			refusal, -EINVAL,
			"fast_forward.steady leaves out packets: it needs a run in virtual time, "
			"without frames, captures and gradients from outside");
	if (lanes > 1 && (lanes != world->shard_count || options->ports.kind != PORTS_RING))
		return refuse(refusal, -EINVAL, "% lanes need as many shards, and ring ports",
			      lanes);
	return 0;
}

static int check_ranks(const struct world *world, const struct sim_options *options, uint32_t lanes,
		       struct refusal *refusal)
{
	const struct ranks *ranks = options->ranks;
	if (ranks == NULL)
		return 0;
	if (ranks->count != world->shard_count || lanes > 1)
		return refuse(refusal, -EINVAL, "% ranks need as many shards, and one lane each",
			      ranks->count);
	if (options->ports.kind != PORTS_NONE || options->pace.is_on ||
	    options->taps.pcap != NULL || options->taps.log != NULL)
		return refuse(refusal, -EINVAL,
			      "frames, captures and a clock need a run in one process; this one "
			      "has % ranks",
			      ranks->count);
	return 0;
}

static int open_taps(struct sim *sim, struct refusal *refusal)
{
	const struct tap_options *options = &sim->options.taps;
	if (options->pcap == NULL && options->log == NULL)
		return 0;
	int rc = tap_open(&sim->taps, sim->world, options, &sim->codec, sim->lane_count, refusal);
	for (uint32_t i = 0; rc == 0 && i < sim->lane_count; i++)
		sim->lanes[i].taps = sim->taps;
	return rc;
}

// What only runs with bytes need.
static int open_bytes(struct sim *sim, const struct cable_set *cables, struct refusal *refusal)
{
	const struct sim_options *options = &sim->options;
	bool has_taps = options->taps.pcap != NULL || options->taps.log != NULL;
	if (options->ports.kind == PORTS_NONE && !has_taps)
		return 0;
	int rc = codec_init(&sim->codec, sim->world, refusal);
	sim->codec.ports = &sim->options.ports;
	if (rc == 0 && options->ports.kind != PORTS_NONE)
		rc = open_ports(sim, cables, refusal);
	return rc;
}

int sim_create(struct sim **ret, struct world *world, const struct sim_options *options,
	       struct refusal *refusal)
{
	struct cable_set cables;
	uint32_t lanes = options->lanes > 1 ? options->lanes : 1;
	int rc = check_options(world, options, lanes, refusal);
	if (rc == 0)
		rc = check_ranks(world, options, lanes, refusal);
	if (rc < 0)
		return rc;
	struct sim *sim = arena_draw(world->arena, ARENA_DRIVE, 1, sizeof(*sim));
	if (sim == NULL ||
	    cable_set_init(&cables, world, cable_unit_shift(world), world->arena) < 0)
		return refuse_memory(world, refusal);
	sim->world = world;
	sim->options = *options;
	sim->lane_count = lanes;
	if (options->pace.is_on && pace_init(&sim->pace, world->arena, &options->pace) < 0)
		return refuse_memory(world, refusal);
	rc = open_bytes(sim, &cables, refusal);
	if (rc == 0 && create_lanes(sim, &cables) < 0)
		rc = refuse_memory(world, refusal);
	if (rc == 0 && options->ranks != NULL &&
	    boundary_init(&sim->lanes[0].boundary, &sim->lanes[0], options->ranks, world->arena) <
		    0)
		rc = refuse_memory(world, refusal);
	if (rc == 0)
		rc = open_taps(sim, refusal);
	if (rc < 0) {
		if (sim->ports != NULL)
			sim->ports->ops->close(sim->ports);
		return rc;
	}
	arena_seal(world->arena);
	*ret = sim;
	return 0;
}

int sim_end(struct sim *sim, struct run *run, struct refusal *refusal)
{
	int rc = 0;
	if (sim->taps != NULL)
		rc = tap_close(sim->taps, sim->run.now_ps, &run->taps, refusal);
	sim->taps = NULL;
	if (sim->ports != NULL)
		sim->ports->ops->close(sim->ports);
	sim->ports = NULL;
	return rc;
}
