// SPDX-License-Identifier: Apache-2.0
// The least time that a collective can take on a fabric: what no run of any transport, control or
// spray can undercut, because lines would have to carry more than they can. It is the alpha-beta
// model (Hockney 1994; Thakur, Rabenseifner, Gropp: Optimization of collective communication
// operations in MPICH, 2005) made a bound, with the bytes of the algorithm in hand in place of
// those of the best one (nccl-tests, doc/PERFORMANCE.md):
//
//   lines    Each NIC must send and receive its messages, with the headers of their packets, at the
//            rate of all its planes; each GPU those inside its host at the rate of its scale-up
//            line.
//   cuts     What enters or leaves a T0, a pod, a rail, a row or half of a torus or a listed
//            switch passes the links across it.
//   steps    A message begins after those that it waits for are there, and takes the propagation
//            and the serialisation of a packet on every further link.
//   answer   It ends where its sender has the acknowledgement, as flows do in htsim and in ns-3's
//            RDMA models: that goes all the way back.
//
// A line cannot begin before its first message is ready, nor is its last byte there before it has
// propagated; the bound is the largest of all lines, cuts and chains of messages. Faults, losses
// and congestion only add to it. Picoseconds and bytes.
#pragma once

#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/scenario/scenario.h>
#include <weft/workload/coll.h>
#include <weft/workload/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the least time comes from.
enum ideal_limit { IDEAL_NIC, IDEAL_SCALEUP, IDEAL_CUT, IDEAL_STEPS, IDEAL_LIMIT_COUNT };

// "nic", "scaleup", "cut", "steps".
const char *ideal_limit_name(enum ideal_limit limit);

struct ideal_time {
	ps_t ps;
	enum ideal_limit limit;
	ps_t lines_ps;	  // of the payload alone, on the busiest line of a NIC or scale-up domain
	ps_t steps_ps;	  // of the longest chain of messages: what a pipeline takes to fill
	ps_t base_rtt_ps; // of the topology
	uint64_t packets; // data packets that go over the fabric
};

// The messages added so far, on every line of a fabric. It holds pointers to scenario and topology.
struct ideal;

// Without messages. Two sizes of collectives that run at the same time may be added to one; of
// those that run one after the other, each takes its own time. -ENOMEM.
int ideal_create(struct ideal **ret, struct arena *arena, const struct scenario *scenario,
		 const struct topology *topology, struct refusal *refusal);

// Without messages again.
void ideal_clear(struct ideal *ideal);

// Messages between two NICs, of which the first can be sent at `begin_ps`.
struct ideal_message {
	uint32_t from, to;     // NICs; of one host without a scale-up domain: nothing is added
	uint64_t bytes;	       // of all
	uint64_t first_bytes;  // of the first
	uint64_t packets;      // of all; 0: as few as there can be
	uint64_t packet_bytes; // payload of the smallest packet; 1: nobody knows
	ps_t begin_ps;
	bool is_by_nic; // also inside a host: what flows do, which know no scale-up domain
};

// Adds them. Returns when the first can be there.
ps_t ideal_add(struct ideal *ideal, const struct ideal_message *message);

// Adds all steps of a ring with credits (workload.h) over a group's GPUs, also those that a sample
// leaves out; ring->ranks is not looked at.
void ideal_add_ring(struct ideal *ideal, const struct group *group, const struct ring_config *ring,
		    enum collective_kind kind, uint64_t bytes);

struct ideal_time ideal_time(const struct ideal *ideal);

// All of it for a scenario whose traffic is one collective or one ring with credits; `arena` holds
// the topology meanwhile. -EINVAL with the reason: other traffic, or what has no world; -ENOMEM.
int ideal_scenario(struct ideal_time *ret, struct arena *arena, const struct scenario *scenario,
		   struct refusal *refusal);

// The traffic has no closed form here.
#define IDEAL_NONE "no closed form: this traffic is neither collectives, flows nor a program"
#define IDEAL_OF_SAMPLE "a sample of many collectives leaves out what the least time would be of"

// The same for a world that stands, whose traffic may also be flows, from the first start on, or
// the collectives of a job that runs whole, all under way at once, or a program (of several jobs
// all of theirs): the longest chain of computations and messages that wait for each other, or the
// most that a line must carry, whichever is more. -EINVAL, and why there is none.
struct world;
int ideal_world(struct ideal_time *ret, struct arena *arena, const struct world *world,
		struct refusal *refusal);

#ifdef __cplusplus
}
#endif
