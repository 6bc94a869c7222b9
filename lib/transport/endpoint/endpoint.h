// SPDX-License-Identifier: Apache-2.0
// The record of one endpoint, shared by the files of this room, and its event rings. The
// functions named after a file are in that file's header.
#pragma once

#include <weft/cc/cc_throttle.h>
#include <weft/core/fifo.h>
#include <weft/core/heap.h>
#include <weft/measure/measure_delay.h>
#include <weft/transport/transport.h>

#include "context.h"
#include "path/choose.h"
#include "peers.h"
#include "qp.h"
#include "region.h"
#include "share.h"

#define DMA_WRITES 64 // place orders that may wait; a call of receive gives at most one

// Kinds of timers: those of a context, and others of the endpoint itself.
enum timer_kind {
	TIMER_RETRANSMIT,
	TIMER_CC,
	TIMER_PROBE,
	TIMER_SLEEK,
	TIMER_TAIL,
	TIMER_KIND_COUNT,
	TIMER_CONTEXTS = TIMER_KIND_COUNT,
	TIMER_PORT,
	TIMER_CREDIT,
	TIMER_DEMAND
};
#define TIMER_KIND_SHIFT 56

// Contexts with something to send, first in first out, linked through qp.ready_next.
struct ready_queue {
	uint32_t head, tail; // number + 1; 0 = empty
};

struct endpoint {
	uint32_t work; // QPs queued plus control packets held: endpoint_has_work() reads only this
	uint32_t held; // control packets held
	const struct transport_config *config;
	uint8_t *contexts;
	uint64_t context_stride;
	struct qp_record *records;  // [qp_max]
	const struct qp *recent[2]; // who received last: data, answers; NULL: nobody yet
	uint32_t qp_max;
	uint32_t nic;
	uint32_t mpr_mask, sends_mask, pending_imm_mask;
	uint32_t mpr_last; // distance of the last PSN that is in the window from the first
	uint32_t receivers, receivers_before; // QPs that received in this epoch, in the last: see
	uint32_t epoch;			      // mpr_grant.c
	uint8_t epoch_shift;
	uint32_t rto_units;	// base timeout in units of 1024 ps
	uint8_t press;		// penalty byte of all SACKs, beside what a QP's receiver half asks
	bool is_pooled;		// fewer contexts than QPs: else QP i has context i from birth on
	bool has_shares;	// QPs to one NIC share their congestion control
	bool has_sleek;		// losses are inferred from packets out of order, too
	bool is_rc;		// config->kind: which of the two protocols its QPs speak
	bool reads_stamps;	// each round trip needs the time stamp that comes back
	bool is_single;		// each QP has one path, so one plane: a ready queue per plane
	bool has_port_work;	// a port is down, or peers are to be informed of ports
	bool is_untold;		// there may be peers who do not know which of our ports are down
	bool has_no_port_timer; // the time without a port is measured, of some QP
	bool lost_port_anew;	// it begins when the timer rings, which it does at once
	uint16_t sent_count;	// RC: packets of data sent; no header has it but IPv4, where it may
	bool is_noted;		// what leaves is timed or counted
	struct ready_queue ready[PLANES_MAX];
	struct fifo control[PLANES_MAX];
	struct transport_counters counters;
	struct delays *delays; // or NULL: packets are not timed
	struct heap timers;
	uint64_t credit_bps;	       // what is granted at, 0 = credits are not in use
	ps_t credit_at;		       // when the next credit may leave
	uint32_t owed_head, owed_tail; // contexts owed credit, number + 1
	uint32_t credit_plane;	       // of the next one
	bool has_credit_timer;
	bool has_throttle; // less is granted when trunks are full
	bool has_demand;   // senders tell what they want credit for
	bool has_demand_timer;
	uint32_t tell_head, tell_tail; // contexts that have that to tell, number + 1
	uint32_t credit_first;	       // bytes that a sender may send without
	struct heap paced;	       // contexts of RC that wait for their rate, see pace.h
	struct throttle throttle;
	struct completion *completions; // ring of completions_mask + 1
	uint32_t completions_mask, completions_head, completions_tail;
	uint32_t dma_writes_head, dma_writes_tail;
	uint32_t flush_head, flush_tail; // contexts to be flushed, number + 1
	struct dma_write *dma_writes;	 // ring of PLACES
	struct region_table regions;
	struct context_pool pool;
	struct peers peers;
	uint32_t ask_head;     // the peers to be informed, index + 1
	uint32_t words;	       // peers that last heard that some port is down
	ps_t no_port_until_ps; // QPs end then when no port of theirs was up before
	const struct cc_ops *cc_ops;
	struct choices choices; // what QPs have: profiles by their numbers
	struct share_table shares;
	uint32_t window_min, window_max; // of congestion control: a packet, and its first window
	uint64_t seed;
	struct path_shape shape;
	struct profile profile; // shape.profile, unless each QP draws its EVs
	struct qp_layout layout;
	struct ev_count *const *ev_counts; // [qp_max] see endpoint_count_evs(); or NULL
};

static inline struct qp *context_at(const struct endpoint *endpoint, uint32_t context)
{
	return (struct qp *)(void *)(endpoint->contexts + context * endpoint->context_stride);
}

// The context of QP `number`; NULL when it has none.
static inline struct qp *endpoint_qp(const struct endpoint *endpoint, uint32_t number)
{
	if (!endpoint->is_pooled)
		return context_at(endpoint, number);
	uint32_t context = endpoint->records[number].context;
	return context == 0 ? NULL : context_at(endpoint, context - 1);
}

// The congestion control of a QP.
static inline const struct cc_choice *endpoint_cc(const struct endpoint *endpoint,
						  const struct qp *qp)
{
	return &endpoint->choices.cc[qp->cc_profile];
}

static inline void endpoint_complete(struct endpoint *endpoint, const struct completion *completion)
{
	uint32_t tail = endpoint->completions_tail++;
	check(tail - endpoint->completions_head <= endpoint->completions_mask);
	endpoint->completions[tail & endpoint->completions_mask] = *completion;
}

// Takes the oldest work request of a QP from its ring; what becomes of it.
static inline struct completion endpoint_take_oldest(const struct endpoint *endpoint, struct qp *qp,
						     enum completion_kind kind)
{
	const struct send *send = &qp->sends[qp->send_done++ & endpoint->sends_mask];
	return (struct completion){
		.kind = kind,
		.qp = qp->number,
		.cookie = send->cookie,
		.bytes = send->bytes,
		.posted_at = send->posted_at,
	};
}

static inline void endpoint_complete_oldest(struct endpoint *endpoint, struct qp *qp)
{
	struct completion completion = endpoint_take_oldest(endpoint, qp, COMPLETION_SENT);
	endpoint->counters.messages_sent++;
	endpoint_complete(endpoint, &completion);
}
