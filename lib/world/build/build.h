// SPDX-License-Identifier: Apache-2.0
// The steps of building a world, in order. Each draws from the arena and refuses with a reason.
#pragma once

#include <weft/host/coll_stream_host.h>
#include <weft/host/opgraph_host.h>
#include <weft/host/record.h>
#include <weft/world/world.h>

// hosts.c: host machines, their NICs, endpoints, QPs, ranks and flows.
int hosts_build(struct world *world, struct refusal *refusal);

// cables.c: the cables of every link with the faults that hit them, and the lookahead.
int cables_build(struct world *world, struct refusal *refusal);

// link_states.c: the ports that NICs see going down and coming back. After the cables.
int link_state_build(struct world *world, struct refusal *refusal);

// links.c: what is counted link by link; before machines, and, of queues, after them and before
// slow_build().
int links_build(struct world *world, struct refusal *refusal);
int links_watch(struct world *world, struct refusal *refusal);
void links_settle(struct world *world);	 // before any of it is read
void links_collect(struct world *world); // adds up what shards have

// outcome.c: adds up what was counted packet by packet where it was; before it is told or
// collected.
void world_settle(struct world *world);

// outcome.c: what a NIC counted, with what is true of it only now.
struct transport_counters outcome_counters(const struct endpoint *endpoint);

// outcome.c: adds what one more NIC counted to a sum, and to the most that any sent on each plane.
void outcome_add_counters(struct transport_counters *sum, uint64_t *plane_bytes_nic_max,
			  const struct transport_counters *more);

// delays.c: packets and messages are timed; after machines. The others are for when it is read:
// first each shard's, then all.
int delays_build(struct world *world, struct refusal *refusal);
void delays_gather(struct world *world);
void delays_collect(struct world *world);

// tail.c: draws the tails of all shards, or says in world->delays why there are none, -ENOMEM; and
// adds up what the shards counted.
int tail_build(struct world *world);
void tail_collect(struct world *world);

// slices.c: slices of rings are kept; after machines.
int slices_build(struct world *world, struct refusal *refusal);

// setting.c: switches that faults have mark elsewhere. Before slow_build(), which may scale marks.
int setting_build(struct world *world, struct refusal *refusal);

// reroute.c: hands switches their routes over time. After the switches.
int reroute_build(struct world *world, struct refusal *refusal);

// What a fault leaves of a rate, or RATE_UNCHANGED where it does not touch it.
typedef uint32_t (*rate_share_fn)(const void *of, const struct fault *fault);
#define RATE_UNCHANGED UINT32_MAX

// The changes that the scenario's faults make to a rate, oldest first; `ret` may be NULL. Returns
// how many there are.
uint32_t rate_changes(const struct scenario *scenario, rate_share_fn share, const void *of,
		      struct rate_change *ret);

// Hands each out-port that a fault slows its rates over time. After machines and cables.
int slow_build(struct world *world, struct refusal *refusal);

// pauses.c: what PFC tells NICs, and what came of it; after machines. The second adds it up.
int pauses_build(struct world *world, struct refusal *refusal);
void pauses_collect(struct world *world);

// stalls.c: draws what the scenario's faults say of host `index`. -ENOMEM.
int stall_build(struct world *world, uint32_t index);

// trigger_flows_build.c: sorts the flows that wait by trigger and host. Before the hosts. -EINVAL
// when a delay of signals is given and there are none; -ENOMEM.
int trigger_flows_build(struct world *world, struct refusal *refusal);

struct write_target;

// write_targets.c: where the messages of the world's program land. -ENOMEM.
int write_target_build(struct write_target *ret, const struct world *world);

// shards.c: which shard each machine is in. Before anything of a machine is drawn.
int shards_build(struct world *world, struct refusal *refusal);

// shared.c: finds the switches that all processes have; and, when machines are dealt out, who has
// what is below them. -ENOMEM.
int shared_draw(struct world *world);
void shared_build(struct world *world);

#define SHARD_LINE_BYTES 64   // what two threads should not both write into
#define SHARD_PAGE_BYTES 4096 // the same where there is much of it

// What is drawn from here on begins a block of `bytes` (a power of two), so that it shares none
// with what another thread writes. Nothing when there is one shard.
void shards_fence(struct world *world, enum arena_room room, size_t bytes);

// outcome.c: histograms and clocks that hosts write into, for each shard.
int outcome_build(struct world *world, struct refusal *refusal);

#define TRUNK_GROUP_CLASSES_MAX 8 // classes of groups

// trunk_sampling.c: the share of the trunks that a sample keeps; before and after the sample cuts
// the job.
struct trunk_sampling {
	uint32_t t0_nics, t0s;
	uint32_t group_classes;			 // kinds found
	uint32_t ranks[TRUNK_GROUP_CLASSES_MAX]; // of each kind
	uint32_t *before, *after;		 // [t0s][TRUNK_GROUP_CLASSES_MAX] groups
};
int trunk_sampling_before(struct trunk_sampling *trunk_sampling, struct world *world);
void trunk_sampling_after(struct trunk_sampling *trunk_sampling, struct world *world);

// build_step.c: the scenario's step as a program. -EINVAL when it would send too many packets.
int build_step(struct world *world, struct refusal *refusal);

// The program of a step of the world's hosts, whose ranks are GPUs 0, 1, ... -EINVAL, -ENOMEM.
int build_step_program(struct program **ret, struct world *world, const struct world_step *step,
		       struct refusal *refusal);

// build_jobs.c: the scenario's jobs as a program. -EINVAL with the job's line, -ENOMEM.
int build_jobs(struct world *world, struct refusal *refusal);

// Of several jobs: room to count what each puts on each cable. After the cables.
int jobs_draw_counts(struct world *world, struct refusal *refusal);

// transport.c: what the endpoints take from the network, once the topology is there.
void transport_build(struct world *world);
// Its timers, once it is known how many QPs send to one NIC, or from one, at most.
void transport_timers(struct world *world, uint32_t senders);

// pools.c: packets and lists, of what the arena has left. Last of all.
int build_pools(struct world *world, struct refusal *refusal);

// pools.c: what every step says when the arena is too small.
int build_no_memory(const struct world *world, struct refusal *refusal);

// Wrong settings: what faults of kinds ecn and evs make of a switch and of a host.

// The transport of host `index`: the world's, or, drawn for it, one with fewer entropy values. NULL
// when there is no memory. While hosts are built.
const struct transport_config *setting_transport(const struct world *world, uint32_t index);

// From the steps of a collective that were run to the time of the whole collective.

// Fills whole_ps and whole_error_ps of `of` from its clock; start_ps and end_ps are set. A channel
// is a ring of its own: the slowest one ends the collective, so each is extrapolated apart and the
// latest end counts.
void estimate_whole(const struct world *world, const struct collective_clock *clock,
		    struct outcome_collective *of);

// What a sample leaves out, held against the timeline of faults.

// Fills fault_left_out of every collective; all else of them is there.
void left_out_find(struct world *world);

// The programs and collectives of a world: their lines, and what can be said against them.

// Whether each rank has a NIC of its own. -EINVAL with a reason, -ENOMEM.
int opgraph_hosts_check_nics(const struct world *world, struct refusal *refusal);

// Building for world_external_compute.h.

static inline bool external_compute_is(const struct op *op)
{
	return op->kind == OP_COMPUTE && op->compute_ps == OP_EXTERNAL_COMPUTE_PS;
}

// Room for when such computations begin, where the program has any. -ENOMEM.
int external_compute_build(const struct world *world);
