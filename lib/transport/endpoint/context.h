// SPDX-License-Identifier: Apache-2.0
// Who has a context, where contexts are fewer than QPs (transport_config.contexts). A QP gets one
// when something is posted or a packet comes in, and keeps it until another needs it; the one that
// has been at rest longest is taken. Where QPs have a context each none of this runs.
//
// What waits, waits in two queues, posts and packets; both are served in turn. Posts get all
// contexts but one: a QP that receives can always have that one, so what was sent comes to its end
// and gives its sender's context back, even if all NICs are full of senders.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/time.h>

enum context_list {
	CONTEXT_BUSY,	 // in no list
	CONTEXT_FREE,	 // of no QP
	CONTEXT_RESTING, // of a QP at rest, the longest first
	CONTEXT_GRANTED, // of a QP that waited and has not come yet, the longest first
	CONTEXT_LISTS
};

// What a QP needs a context for.
enum need { NEED_POST, NEED_PACKET, NEED_COUNT };

struct context_queue {
	uint32_t head, tail; // number + 1; 0 = empty
};

struct context_pool {
	struct context_queue lists[CONTEXT_LISTS]; // of contexts
	struct context_queue waits[NEED_COUNT];	   // of QPs
	struct context_queue notified;		   // of QPs that may post now and are to hear of it
	uint32_t senders; // contexts with something posted, or granted for it
	uint32_t senders_max;
	enum need turn; // whom the next context is for when both wait
	bool has_timer;
	ps_t now; // of the last call
};

struct endpoint;
struct outbox;
struct qp;
struct qp_record;

// Starts the pool: all contexts are free.
void context_pool_init(struct endpoint *endpoint, uint32_t count);

// The context of QP `number` for a post: its own, or another's. NULL: the QP waits now, and will be
// told.
struct qp *context_for_post(struct endpoint *endpoint, uint32_t number, ps_t now);

// The same for a packet that came in. NULL: the QP waits; its peer will send again.
struct qp *context_for_packet(struct endpoint *endpoint, uint32_t number, ps_t now);

// Answers a packet for a QP that waits for a context: it is to be sent again. The descriptor is
// reused for that.
void context_defer(struct endpoint *endpoint, const struct qp_record *record, uint32_t index,
		   struct outbox *out);

// Answers a packet by a NACK of this reason, whether its QP has a context or not. The descriptor is
// reused.
void context_answer_nack(struct endpoint *endpoint, const struct qp_record *record, uint32_t index,
			 uint8_t reason, struct outbox *out);

// After something was done with a QP: it may be at rest now, or not any more.
void context_touch(struct endpoint *endpoint, struct qp *qp);

// The same after a timer: one that rings for nothing leaves all as it is.
void context_timer_rang(struct endpoint *endpoint, struct qp *qp, ps_t now);

// QP `number` goes to ERROR: it waits for nothing, and a turn that it was given is over.
void context_wait_no_more(struct endpoint *endpoint, uint32_t number);

// Lets go of all that QP `number`, which goes to RESET, has or waits for.
void context_forget(struct endpoint *endpoint, uint32_t number);

// The time of those that did not come is over.
void context_on_time(struct endpoint *endpoint, ps_t now);

// The next QP that waited and may post now; false when there is none.
bool context_notified(struct endpoint *endpoint, uint32_t *ret_number);
