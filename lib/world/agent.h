// SPDX-License-Identifier: Apache-2.0
// The part of a host that runs programs (program.h): posts what may begin, times computations,
// tells the program what ended. Sends to a NIC of the same host go over the scale-up lines, others
// over connections, one for each pair of NICs that talk in one direction.
//
//   agent.c   while it runs     agents.c  building: lines, checks
#pragma once

#include <weft/program.h>
#include <weft/world.h>

#include "landing.h"
#include "nic.h"

// What the agents of all hosts share. Each host touches what belongs to its ranks and its NICs
// alone.
struct agent {
	const struct program *program;
	struct program_run *run;
	struct agent_line *lines; // of the world
	uint32_t *line_of;	  // [ops] line of a send; OP_NONE: over the scale-up
	uint32_t *next; // [ops] of a send that waits for room in its QP: the one behind it
	// where the rings are: rank rank_of[group_first[group] + at] of its host
	const uint32_t *rank_of, *group_first;
	struct op_time *times;	 // [ops] with watch.operations, or NULL
	const uint8_t *owner_of; // [nics] of several jobs: whose each is; or NULL
	ps_t *begun_ps;		 // [ops] when computations began; NULL: nobody asks
	uint64_t *events;	 // [hosts] local events that may be under way at once
	struct landing landing;
};

// Whether each rank has a NIC of its own. -EINVAL with a reason, -ENOMEM.
int agents_check_nics(const struct world *world, struct refusal *refusal);

// Lines of the world's program, and what can be said against it. Before QPs are counted. -EINVAL
// with a reason, -ENOMEM.
int agents_build(struct world *world, struct refusal *refusal);

// Local events that the ranks of host `index` may have under way at once.
uint64_t agents_events(const struct world *world, uint32_t index);

// Lets all ranks begin at time 0, and adds what is to be done to the world's work. After the hosts.
void agents_plan(struct world *world);

// Whether both ends of a message are in one host.
bool agents_is_local(const struct world *world, const struct op *op);

// Bytes that the program sends over the fabric.
uint64_t agents_fabric_bytes(const struct world *world);

// Operations that have not ended, over the ranks of a shard.
uint64_t agents_left(const struct world *world, uint32_t shard);

struct world_host;
struct rank;

// Whether the program lets rank `rank` of the host start the next bucket of its group; and that it
// has done its part of the one that it started last.
bool agent_lets_start(const struct world_host *host, const struct rank *rank);
void agent_on_collective(struct world_host *host, const struct rank *rank, ps_t now);

// Events of a host: a rank begins; a computation has taken its time; a scale-up transfer left, or
// arrived; a send over the fabric completed; its message is here; its QP may post again.
void agent_on_begin(struct world_host *host, uint32_t rank, ps_t now, struct outbox *out);
void agent_on_ended(struct world_host *host, uint32_t op, ps_t now, struct outbox *out);
void agent_on_moved(struct world_host *host, uint32_t receive, ps_t now, struct outbox *out);
void agent_on_arrived(struct world_host *host, uint32_t receive, ps_t now, struct outbox *out);
void agent_on_sent(struct world_host *host, struct nic *nic, const struct completion *done,
		   uint32_t op, ps_t now, struct outbox *out);
void agent_on_received(struct world_host *host, const struct nic *nic,
		       const struct completion *done, ps_t now, struct outbox *out);
void agent_on_ready(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now,
		    struct outbox *out);
