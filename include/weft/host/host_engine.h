// SPDX-License-Identifier: Apache-2.0
// The engines of a host's traffic: each posts what its traffic wants, and gets its completions.
// host.c calls them by their rows alone; who builds a host chooses them.
//
//   flow.c   flows   rank.c  rings of its GPUs   opgraph_host.c, coll_stream_host.c  what goes over
//   lines: a program's sends, or a rank's part in a collective stream
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/machine.h>
#include <weft/transport/transport.h>

#include <weft/host/nic.h>

struct world_host;
struct rank;

enum engine_kind { ENGINE_FLOWS, ENGINE_RINGS, ENGINE_LINES, ENGINE_KINDS };

// Local events. At equal time timers of NICs come first, then these in this order, then by id.
enum host_event {
	HOST_RELEASE,	 // id: rank: its next bucket may start
	HOST_SENT,	 // id: rank << 16 | channel: a scale-up transfer left
	HOST_RECEIVED,	 // id: rank << 16 | channel: a scale-up transfer arrived
	HOST_CREDIT,	 // id: rank << 16 | channel: a scale-up credit arrived
	HOST_FLOW,	 // id: flow: start it
	HOST_OP_BEGIN,	 // id: rank of the program or collective stream: it begins
	HOST_OP_ENDED,	 // id: operation: a computation has taken its time, a transfer left
	HOST_OP_ARRIVED, // id: operation: the message of this receive is here
};

// A verb that is NULL has nothing to do.
struct host_engine {
	// An event that host_later() was asked for.
	void (*on_event)(struct world_host *host, enum host_event event, uint64_t id, ps_t now,
			 struct outbox *out);
	// A send of its cookie is acknowledged; a message is here for one of its QPs.
	void (*on_sent)(struct world_host *host, struct nic *nic, const struct completion *done,
			ps_t now, struct outbox *out);
	void (*on_received)(struct world_host *host, struct nic *nic, const struct completion *done,
			    ps_t now, struct outbox *out);
	// A QP that had no room, or waited for a context, may post again.
	void (*on_ready)(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now,
			 struct outbox *out);
	// A peer wrote into memory that is watched (RKEY_NOTICE).
	void (*on_notice)(struct world_host *host, const struct nic_peer *peer, ps_t now,
			  struct outbox *out);
	// Of lines, where rings are part of a program: whether rank `rank` of the host may start
	// the next bucket of its group; and it has done its part of the one that it started last.
	bool (*lets_start)(const struct world_host *host, const struct rank *rank);
	void (*on_collective)(struct world_host *host, const struct rank *rank, ps_t now);
};

extern const struct host_engine flow_engine, rank_engine, opgraph_host_engine,
	coll_stream_host_engine;
