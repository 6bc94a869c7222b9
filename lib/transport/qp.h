// SPDX-License-Identifier: Apache-2.0
// One connection: everything that requester, responder and retransmit keep about it. A QP is one
// block of memory, this record followed by its rings; fields used together stand together.
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/bitmap.h>
#include <weft/cc.h>
#include <weft/psn.h>
#include <weft/transport.h>

#include "path.h"

// Send times are kept in units of 1024 ps in 32 bits, so they wrap after 4.4 s and no wait may be
// longer than half of that.
#define SENT_SHIFT 10
#define SENT_ROUND_UP ((1 << SENT_SHIFT) - 1)
#define WAIT_MAX_UNITS 0x7fffffffu

#define TIMESTAMP_PS (128 * PS_PER_NS) // one tick of packet.timestamp

enum qp_state { QP_CLOSED, QP_RTS, QP_ERROR };

// What is remembered of a PSN between its sending and its acknowledgement.
struct slot {
	uint32_t sent_at; // units of 1024 ps
	uint16_t ev_index;
	uint16_t flags; // and three small numbers
};
static_assert(sizeof(struct slot) == 8, "eight to a cache line");

enum {
	SLOT_SHORT = 1 << 0,   // less than a full packet: its size is in the work request
	SLOT_RTX = 1 << 1,     // was sent again: a round-trip sample must be told apart
	SLOT_ASKS = 1 << 2,    // asked for a SACK, and is counted in asks_out
	SLOT_USED = 1 << 3,    // some PSN had this slot: its send time means something
	SLOT_REASON_SHIFT = 4, // 2 bits: enum rtx_reason, while it is held lost
	SLOT_WAITS_SHIFT = 6,  // 5 bits: waits that ended in a row, since the last NACK
	SLOT_TRIES_SHIFT = 11, // 5 bits: tries used up, by waits and by NACKs
};
#define SLOT_FIVE_BITS 31u
#define SLOT_TRIES_MAX 32u // a slot counts to one less: the last try ends the QP

static inline uint32_t slot_waits(const struct slot *slot)
{
	return slot->flags >> SLOT_WAITS_SHIFT & SLOT_FIVE_BITS;
}

static inline uint32_t slot_tries(const struct slot *slot)
{
	return slot->flags >> SLOT_TRIES_SHIFT;
}

static inline enum rtx_reason slot_reason(const struct slot *slot)
{
	return (enum rtx_reason)(slot->flags >> SLOT_REASON_SHIFT & 3);
}

// A posted work request.
struct send {
	uint64_t va;
	uint64_t cookie;
	ps_t posted_at;
	uint32_t rkey;
	uint32_t bytes;
	uint32_t imm;
	uint32_t first_psn, last_psn;
	uint16_t msn, rqmsn;
	uint16_t last_wire; // wire bytes of its last packet
	bool has_imm;
	uint8_t unused[9];
};
static_assert(sizeof(struct send) == 64, "one cache line");

// A WRITE_WITH_IMM whose last packet came, until all before it is here.
struct stash {
	uint32_t psn;
	uint32_t imm;
	uint32_t bytes;
	uint16_t rqmsn;
	bool is_full;
};

struct qp {
	// --- sending
	uint32_t una;	      // oldest PSN not acknowledged
	uint32_t psn_next;    // next new PSN
	uint32_t psn_posted;  // behind the last posted request
	uint32_t inflight;    // wire bytes of PSNs sent and neither acknowledged nor held lost
	uint32_t lost_count;  // PSNs held lost and not sent again yet
	uint32_t lost_from;   // none of them is before this
	uint32_t acked_count; // PSNs acknowledged at or above una
	uint32_t highest;     // newest PSN acknowledged
	uint32_t newest_sent; // send time of the acknowledged packet that was sent last
	uint32_t asks_out;    // packets in flight that asked for a SACK
	uint32_t heard_at;    // units: last SACK, or last request for one
	uint32_t send_done;   // work requests: [done, tail) are held, running numbers
	uint32_t send_at;     // the one that is being sent
	uint32_t send_tail;   // behind the last
	uint32_t wimm_count;  // WRITE_WITH_IMM begun and not completed
	uint32_t ready_next;  // QP behind this in its queue, number + 1; 0 = none
	uint8_t state;	      // enum qp_state
	uint8_t failure;      // enum qp_failure, with QP_ERROR
	uint8_t ready_plane;  // its ready queue: 0 unless it has a single path
	bool is_queued;	      // stands in a ready queue
	bool has_timer;	      // has a place in the heap for retransmission
	bool has_cc_timer;    // has one for congestion control
	bool is_stalled;      // data waits for the window: counted once
	uint16_t msn, rqmsn;  // of the next work request posted
	struct slot *slots;   // [mpr] by PSN
	uint64_t *acked;      // [mpr] bits by PSN: acknowledged above una
	uint64_t *lost;	      // [mpr] bits by PSN
	struct send *sends;   // [sends] ring
	uint32_t number;      // own QPN
	uint32_t remote_nic, remote_qpn;
	uint32_t flush_next; // QP behind this whose requests are to be flushed, number + 1

	// --- receiving
	uint32_t rcv_next;	     // oldest PSN not here: the cumulative ack is the one before
	uint32_t ooo_count;	     // PSNs here above a hole
	uint32_t owed_bytes;	     // wire bytes since the last SACK
	uint32_t news_from, news_to; // arrivals above a hole not yet reported lie in [from, to)
	uint32_t stash_count;
	uint16_t rqmsn_wanted; // WRITE_WITH_IMM to complete next
	uint32_t ar_psn;       // newest PSN that asked for a SACK
	bool is_ar_open;       // and packets before it were not here then
	bool has_received;     // at least one packet
	uint8_t penalty;       // of the receiver half, for the next SACK
	uint64_t rcvd_bytes;   // wire bytes, each PSN once
	uint64_t *received;    // [mpr] bits by PSN
	struct stash *stash;   // [wimm] ring by rqmsn
	uint64_t receiver[CC_RECEIVER_WORDS];

	struct cc cc;
	struct path_set path;
};

// Where the rings of a QP lie behind its record.
struct qp_layout {
	uint64_t slots, acked, lost, received, sends, stash, path; // offsets in bytes
	uint64_t bytes;						   // of all, a multiple of 64
	uint32_t sends_mask, stash_mask, mpr_mask;
};

struct endpoint;

void qp_layout_of(const struct transport_config *config, const struct path_shape *shape,
		  struct qp_layout *ret_layout);

// Opens a QP in zeroed memory of the layout.
void qp_open(struct endpoint *endpoint, struct qp *qp, const struct qp_config *config, ps_t now);

// Puts a QP in ERROR: nothing more is sent, its work requests will be polled as flushed, each with
// the reason.
void qp_fail(struct endpoint *endpoint, struct qp *qp, enum qp_failure failure);

static inline uint32_t sent_units(ps_t now)
{
	return (uint32_t)((uint64_t)now >> SENT_SHIFT);
}
