// SPDX-License-Identifier: Apache-2.0
// One connection. What it must never forget stands in a small record (cold), everything that
// requester, responder and retransmit need while it works in a context (hot): one block of memory,
// struct qp followed by its rings. Contexts may be fewer than QPs; which QP has one is in
// context.c. Fields used together stand together.
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/cc/cc.h>
#include <weft/core/bitmap.h>
#include <weft/core/psn.h>
#include <weft/transport/transport.h>

#include "path/path.h"
#include "path/probe.h"
#include "record.h"
#include "slot.h"

struct qp {
	// --- sending
	uint32_t una;	      // oldest PSN not acknowledged
	uint32_t psn_next;    // next new PSN
	uint32_t psn_posted;  // behind the last posted request
	uint32_t inflight;    // wire bytes of PSNs sent and neither acknowledged nor held lost
	uint32_t lost_count;  // PSNs held lost and not sent again yet
	uint32_t send_done;   // work requests, running numbers: before it none is held
	uint32_t acked_count; // PSNs acknowledged at or above una
	uint32_t highest;     // newest PSN acknowledged
	uint32_t newest_sent; // send time of the acknowledged packet that was sent last
	uint32_t asks_out;    // packets in flight that asked for a SACK
	uint32_t heard_at;    // units: last SACK of data, or last request for one
	uint32_t send_una;    // the one that una is in: those from send_done on wait for ACKs
	uint32_t send_at;     // the one that is being sent
	uint32_t send_tail;   // behind the last
	uint32_t wimm_count;  // WRITE_WITH_IMM begun and not acknowledged whole
	uint32_t ready_next;  // context behind this in its queue, number + 1; 0 = none
	uint8_t state;	      // enum qp_state
	bool is_ack_due;      // the last packet of the oldest one goes again, for want of an ACK
	uint8_t ready_plane;  // its ready queue: 0 unless it has a single path
	bool is_queued;	      // stands in a ready queue
	bool has_timer;	      // has a place in the heap for retransmission
	bool has_cc_timer;    // has one for congestion control
	bool has_probe_timer; // has one for probes
	bool is_stalled;      // data waits for the window: counted once
	uint8_t failure;      // enum qp_failure, with QP_ERROR
	bool is_unpaid;	      // still without credit, as nothing was heard yet
	uint16_t msn, rqmsn;  // of the next work request posted
	uint16_t payload_bytes, full_bytes; // of a full packet: payload, all of it on the line
	bool is_gate_full;		    // a packet leaves only if a full one fits the window
	uint16_t cc_profile;		    // that it has its congestion control of
	struct slot *slots;		    // [mpr] by PSN
	uint64_t *acked;		    // [mpr] bits by PSN: acknowledged above una
	uint64_t *lost;			    // [mpr] bits by PSN
	struct send *sends;		    // [sends] ring
	uint32_t context;		    // own number among the contexts
	uint32_t remote_nic, remote_qpn;
	uint16_t mpr_limit;  // PSNs from una that may be used
	uint16_t wimm_limit; // WRITE_WITH_IMM that may be begun and not completed

	// --- receiving
	uint32_t rcv_next;	     // oldest PSN not here: the cumulative ack is the one before
	uint32_t ooo_count;	     // PSNs here above a hole
	uint32_t ops_above;	     // and last packets of requests among them
	uint32_t owed_bytes;	     // wire bytes since the last SACK
	uint32_t news_from, news_to; // arrivals above a hole not yet reported lie in [from, to)
	uint32_t pending_imm_count;
	uint16_t rqmsn_wanted;		 // WRITE_WITH_IMM to complete next
	uint32_t ar_psn;		 // newest PSN that asked for a SACK
	bool is_ar_open;		 // and packets before it were not here then
	bool has_received;		 // at least one packet
	uint8_t penalty;		 // of the receiver half, for the next SACK
	uint64_t rcvd_bytes;		 // wire bytes, each PSN once
	uint64_t *received;		 // [mpr] bits by PSN
	struct pending_imm *pending_imm; // [wimm] ring by rqmsn
	uint64_t receiver[CC_RECEIVER_WORDS];

	// --- sending, MRC: see flight.h; running numbers, with RC both 0
	uint32_t heard_bytes;	// that the receiver has, as far as it reported
	uint32_t settled_bytes; // of these, known by PSN
	uint32_t count_base;	// of the receiver's count: what it is ahead of that, see flight.h
	int32_t count_more;	// that it counts for a packet, beyond what this end does

	struct cc cc;
	_Alignas(64) struct path_set path; // what each packet reads of it is one cache line
	struct probe_set probes;

	// --- whole requests: touched at their ends only
	uint32_t number;      // own QPN
	uint32_t lost_from;   // no PSN held lost is before this
	uint32_t ack_since;   // units: since when the oldest of these waits
	uint32_t count_psn;   // sending, MRC: count_more counts from this PSN on
	uint8_t ack_tries;    // and how often its last packet was sent again
	uint8_t capabilities; // QP_CAN_... of both ends
	bool has_tail_timer;  // has a place in the heap for tail.h
	uint8_t tail_probes;  // of tail.h, since something was acknowledged
	bool is_window_due;   // one packet leaves though the window is full, see tail.h
	uint16_t mpr_agreed;  // mpr_limit without offers
	uint32_t ops_done;    // receiving: requests done, running number
	uint32_t ops_end;     // PSN behind the last of these
	uint32_t ack_waiting; // an ACK that has not left yet, 0 = none
	uint32_t epoch;	      // when a SACK was sent last, see mpr_grant.c
	uint64_t *ends;	      // [mpr] bits by PSN: last packets above a hole
	uint32_t flush_next;  // context behind this whose requests are to be flushed, number + 1

	// --- among the contexts, where they are fewer than QPs
	uint32_t list_next, list_prev; // of its list, number + 1
	uint8_t list;		       // enum context_list
	bool is_sender;		       // counted in senders
	bool is_promised;	       // granted for a post that has not come yet
	ps_t listed_at;		       // when it came to its list
	ps_t promised_at;	       // is_promised: since when

	// --- credits
	uint32_t credited;	// sending: what was granted so far
	uint32_t granted;	// receiving: the same
	uint32_t credit_next;	// PSN behind the newest that came
	uint32_t passed;	// PSNs before it that never came, whole or trimmed
	uint32_t owed_next;	// context behind this of those owed some, number + 1
	bool is_owed;		// stands among them
	bool is_telling;	// sending: stands among those that have a demand to tell
	uint32_t tell_next;	// context behind this of these, number + 1
	uint32_t asked, unpaid; // sending: see struct packet_demand
};

static_assert(offsetof(struct qp, state) == 64 && offsetof(struct qp, remote_qpn) == 128,
	      "all that a packet counts is in the first line, where it goes in the second");
static_assert(offsetof(struct path_set, retry_at) == 64, "one line, then what is not the usual");

// Where the rings of a QP lie behind its record.
struct qp_layout {
	// offsets in bytes
	uint64_t slots, acked, lost, received, ends, sends, pending_imm, path, sleek;
	uint64_t bytes; // of all, a multiple of 64
	uint32_t sends_mask, pending_imm_mask, mpr_mask;
};

struct endpoint;

// How many messages of a QP can be there at once, of `most`.
static inline uint32_t qp_messages(const struct transport_config *config, uint32_t most)
{
	return config->messages_max != 0 && config->messages_max < most ? config->messages_max
									: most;
}

void qp_layout_of(const struct transport_config *config, const struct path_shape *shape,
		  struct qp_layout *ret_layout);

// Whether a QP has nothing posted, nothing in flight, no hole, and owes nothing.
bool qp_is_at_rest(const struct qp *qp);

// Clears what a context knows of its QP but not its rings; and these, too, whatever is in them.
void qp_wipe(struct qp *qp);
void qp_clear(const struct endpoint *endpoint, struct qp *qp);

// Moves a QP, which has a context or not, to another state.
void qp_enter(struct endpoint *endpoint, uint32_t number, enum qp_state state);

// Puts a QP in ERROR: nothing more is sent, its work requests will be polled as flushed, each with
// the reason.
void qp_fail(struct endpoint *endpoint, struct qp *qp, enum qp_failure failure);
