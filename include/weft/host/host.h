// SPDX-License-Identifier: Apache-2.0
// A host machine: the GPUs of one scale-up domain (a rack, a server) with their NICs. Short cables
// - NVLink, GPU to NIC - live inside it, so that they never set the lookahead.
//
//   host.c  the machine: arrivals, timers and local events in time order     nic.c  lines that pull
//   packets rank.c  a GPU's part in a collective: what the ring wants, done
//   opgraph_host.c  a GPU's part in a program   flow.c  a flow at its two ends
#pragma once

#include <stdint.h>

#include <weft/core/heap.h>
#include <weft/fabric/fabric.h>
#include <weft/measure/measure.h>
#include <weft/measure/measure_link.h>
#include <weft/measure/measure_slices.h>
#include <weft/workload/workload.h>

#include <weft/host/coll_stream_host.h>
#include <weft/host/host_engine.h>
#include <weft/host/link_state.h>
#include <weft/host/nic.h>
#include <weft/host/opgraph_host.h>
#include <weft/host/record.h>
#include <weft/host/stall.h>
#include <weft/host/trigger_flows.h>

// The memory that NICs open to their peers: what flows and slices are written into, and the credits
// of the slices that a NIC sends.
#define RKEY_DATA 1u
#define RKEY_CREDITS (RKEY_NOTICE | 2u)
#define REGIONS_PER_NIC 2u

// Where a rank's neighbour of one channel is.
struct rank_link {
	bool is_local; // same host: over the scale-up domain
	uint32_t rank; // local: rank of this host
	uint32_t qpn;  // else: first of the connection's QPs at this rank's NIC
	uint32_t turn; // else: the one that the next slice takes, from 0
};

struct rank {
	struct ring *ring;
	const struct group *group;
	uint32_t group_index, at;	// number of the rank in its group
	uint32_t nic;			// of this host; also the GPU
	uint32_t bucket;		// next bucket of the group to start, counted from 0
	struct rank_link *to;		// [channels] next rank
	struct rank_link *from;		// [channels] previous rank
	uint32_t *grants_waiting;	// [channels] credits that found the QP's queue full
	bool is_waiting;		// a HOST_RELEASE is under way
	uint64_t *steps_seen;		// [channels] ring steps recorded of the running collective
	struct collective_clock *clock; // of the running collective
	struct slices *slices;		// with watch.messages; or NULL
};

struct world_host {
	struct nic *nics; // [nic_count]
	uint32_t nic_count, planes;
	uint16_t *nic_of_port; // [ports]
	ps_t awake_at;	   // since its last stall it has worked from here on: no timer is before
	uint32_t wake_nic; // the NIC whose timer is due first; the lowest at equal time
	uint64_t *working; // bit per NIC: may have something to send
	struct heap events;
	struct heap link_states;    // by when a NIC may know that a port's light changed; key: port
	struct port_watch *watches; // [ports] or NULL: no fault hits a port
	ps_t detect_ps;		    // a port's light has changed for so long when its NIC knows
	struct host_faults faults;
	struct scaleup scaleup;
	uint32_t rank_count;
	struct rank *ranks;
	const struct job *job;
	const struct host_engine *engines[ENGINE_KINDS]; // NULL: none of this kind
	struct opgraph_host *opgraph_host;		 // of the world, or NULL: no program
	struct coll_stream_host
		*coll_stream_host;	 // of the host's shard, or NULL: no collective stream
	struct flow *flows;		 // of the world
	struct trigger *triggers;	 // of the world
	const struct starters *starters; // of the world: those of this host are its own
	const uint32_t *flow_qpn;	 // [flows] first QP at the sender
	struct record *record;
	struct series *series;	  // or NULL: nothing is counted over time
	uint64_t *placed;	  // [nic_count][bins of the series], or NULL
	struct work_count *work;  // what it computes, or NULL
	bool *was_down;		  // [ports] that have been without light, or NULL
	const bool *cut;	  // [ports] without a link, as the driver sees it, or NULL
	struct delays *delays;	  // of its shard, or NULL: packets are not timed
	struct tail *tail;	  // of its shard, or NULL
	uint64_t late_ps;	  // a packet that took so long is counted there, too
	struct pair_delay *pairs; // of the world
	uint32_t grant_bytes;	  // size of a credit write
	uint32_t qps_per_connection;
	uint32_t first_nic; // index of nics[0] in the world
};

// machine_run_fn of a host.
ps_t host_run(void *self, const struct inbox *in, ps_t until, struct outbox *out);

// machine_fetch_fn of a host.
void host_fetch(const void *self, const uint64_t *ports, uint32_t step);

// The host works again at `now`, behind a time in which it did nothing: what was due meanwhile is
// due now, and what its lines could have sent meanwhile is not made up for. For faults, and for a
// driver whose clock went on without it.
void host_resume(struct world_host *host, ps_t now);

// The line of a port is taken until `until`: nothing leaves by it before. For a driver whose port
// holds more than it should.
void host_hold_line(struct world_host *host, uint32_t port, ps_t until);

// The driver changed host->cut of a port: from `now`, before which all is done, its NIC knows
// whether the port is down. With transport.port_status only.
void host_link(struct world_host *host, uint32_t port, ps_t now, struct outbox *out);

// Posts `work` on a QP of NIC `nic` at `now`. False when the QP's queue is full, or it must wait
// for a context: an engine's on_ready() follows. A QP in ERROR takes it and loses it: the run will
// end as stalled.
bool host_post(struct world_host *host, uint32_t nic, uint32_t qpn, const struct work *work,
	       ps_t now, struct outbox *out);

// The same where the queue cannot be full: what must wait for a context is kept, and posted then.
void host_post_in_turn(struct world_host *host, uint32_t nic, uint32_t qpn, const struct work *work,
		       ps_t now, struct outbox *out);

// Work of `planned_ps` that the host begins at `from` ends at `until` (PS_NEVER: it does not).
static inline void host_worked(struct world_host *host, ps_t planned_ps, ps_t from, ps_t until)
{
	if (host->work == NULL || until == PS_NEVER)
		return;
	host->work->planned_ps += (uint64_t)planned_ps;
	host->work->taken_ps += (uint64_t)(until - from);
}

// watched.c: takes a packet that arrived, and counts what came of it.
void watched_receive(struct world_host *host, struct nic *nic, const struct arrival *arrival,
		     struct outbox *out);

// watched.c: adds what came since its NICs' bins began to the series; before that is read.
void watched_settle(const struct world_host *host);

// Adds a local event.
void host_later(struct world_host *host, enum host_event event, uint64_t id, ps_t at);

// Does all that the ring of `rank` wants at `now`.
void rank_act(struct world_host *host, uint32_t rank, ps_t now, struct outbox *out);

// Whom a completion of a sent request belongs to.
enum cookie_kind { COOKIE_SLICE, COOKIE_GRANT, COOKIE_FLOW, COOKIE_OP };

static inline uint64_t cookie_of(enum cookie_kind kind, uint32_t owner, uint32_t channel)
{
	return (uint64_t)kind << 56 | (uint64_t)owner << 16 | channel;
}
