// SPDX-License-Identifier: Apache-2.0
// The record of one endpoint, shared by the files of this room, and its event rings. The
// functions named after a file are in that file's header.
#pragma once

#include <weft/fifo.h>
#include <weft/heap.h>
#include <weft/transport.h>

#include "qp.h"
#include "region.h"

#define PLACES 64 // place orders that may wait; a call of receive gives at most one

enum timer_kind { TIMER_RETRANSMIT, TIMER_CC };
#define TIMER_KIND_SHIFT 56

// QPs with something to send, first in first out, linked through qp.ready_next.
struct ready_queue {
	uint32_t head, tail; // number + 1; 0 = empty
};

struct endpoint {
	uint32_t work; // QPs queued plus control packets held: endpoint_has_work() reads only this
	uint32_t held; // control packets held
	const struct transport_config *config;
	uint8_t *qps;
	uint64_t qp_stride;
	uint32_t qp_max;
	uint32_t nic;
	uint32_t full_bytes; // wire bytes of a full packet
	uint32_t mpr_limit;  // PSNs from una that may be used
	uint32_t mpr_mask, sends_mask, stash_mask;
	uint32_t rto_units; // base timeout in units of 1024 ps
	bool is_rc;	    // config->kind: which of the two protocols its QPs speak
	bool is_single;	    // each QP has one path, so one plane: a ready queue per plane
	struct ready_queue ready[PLANES_MAX];
	struct fifo control[PLANES_MAX];
	struct transport_counters counters;
	struct heap timers;
	struct completion *completions; // ring of completions_mask + 1
	uint32_t completions_mask, completions_head, completions_tail;
	uint32_t places_head, places_tail;
	uint32_t flush_head, flush_tail; // QPs to be flushed, number + 1
	struct place *places;		 // ring of PLACES
	struct region_table regions;
	const struct cc_ops *cc_ops;
	uint64_t seed;
	struct path_shape shape;
	struct qp_layout layout;
};

static inline struct qp *endpoint_qp(const struct endpoint *endpoint, uint32_t number)
{
	return (struct qp *)(void *)(endpoint->qps + number * endpoint->qp_stride);
}

static inline void endpoint_complete(struct endpoint *endpoint, const struct completion *completion)
{
	uint32_t tail = endpoint->completions_tail++;
	check(tail - endpoint->completions_head <= endpoint->completions_mask);
	endpoint->completions[tail & endpoint->completions_mask] = *completion;
}
