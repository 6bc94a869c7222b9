// SPDX-License-Identifier: Apache-2.0
// One NIC: a line per plane that pulls its next packet from the endpoint when it is free. Lazy:
// nothing is scheduled; before each change at time t, and at the end of a window, nic_advance()
// emits every departure that starts by then.
#pragma once

#include <stdint.h>

#include <weft/core/machine.h>
#include <weft/fabric/fabric.h>
#include <weft/transport/transport.h>

#include <weft/host/backlog.h>
#include <weft/host/qp_pool.h>

// What a QP of this NIC belongs to.
struct nic_peer {
	uint32_t owner; // rank of the host, or flow or line of the world
	uint16_t channel;
	uint8_t role;	// enum nic_role
	uint8_t pair;	// enum pair_class
	uint32_t first; // first QP of its connection; they stand in a row
	union {
		struct {
			uint32_t imm_next; // ring: the slice that completes next on this QP
			uint32_t turn;	   // ring, first QP only: the one whose message is reported
					   // next, from 0
			uint32_t waiting;  // ring: messages done that wait for their turn;
					   // flow, first QP only: shares done
		};
		struct {
			uint32_t wait_first,
				wait_last; // line: sends that wait for room, or OP_NONE
		};
	};
};

enum nic_role {
	NIC_ROLE_NONE,
	NIC_ROLE_RING_SEND,
	NIC_ROLE_RING_RECEIVE,
	NIC_ROLE_FLOW,
	NIC_ROLE_LINE_SEND,
	NIC_ROLE_LINE_RECEIVE
};

// The rate of one line over time.
struct nic_slow {
	const struct rate_change *changes; // the next one
	uint32_t count;			   // that are left
	line_t line;			   // now
};

// The bin of a series that a NIC counts into, of a run that counts over time: what is in it is the
// difference of its endpoint's counters since it began. All 0: nothing has come. Where packets are
// timed alone it is never over.
struct nic_bin {
	ps_t from_ps, until_ps;
	uint64_t arrived, placed; // data_received and payload_bytes_placed when it began
};

struct nic {
	struct endpoint *endpoint; // NULL: this NIC has nobody to talk to, or is another process's
	line_t line;		   // of each plane
	struct nic_slow *slow;	   // [planes] of a NIC whose lines change their rates; else NULL
	struct pause *pauses;	   // [planes] with PFC; else NULL
	uint32_t planes;
	bool is_paced;		  // QPs may wait for a rate
	bool has_qps;		  // here, or in the process that has its endpoint
	uint32_t turn;		  // plane that goes first among those free at the same time
	uint32_t first_port;	  // of the host machine
	ps_t free_at[PLANES_MAX]; // when the line of a plane is free
	ps_t wake_at;		  // when a timer of the endpoint is due, PS_NEVER = none
	struct nic_peer *peers;	  // [QPs]
	uint32_t qp_count;
	struct backlog backlog;	   // posts that wait for a context
	struct qp_pool *qp_pool;   // connections have its QPs in turn; NULL: each has its own
	struct nic_delays *delays; // delays.h; or NULL
	struct nic_bin *bin;	   // of a host that counts over time or times packets; or NULL
};

// Before a change at `now`: emits every departure that starts at or before it. A line with nothing
// to send is free for what the change brings, from `now` on.
void nic_advance(struct nic *nic, ps_t now, struct outbox *out);

// At the end of a window: emits every departure that starts before `until`; returns the start of
// the next one if nothing changes, or PS_NEVER. Nothing changed here, so idle lines keep the time
// since which they idle: what they are asked next must not depend on where windows end.
ps_t nic_settle(struct nic *nic, ps_t until, struct outbox *out);
