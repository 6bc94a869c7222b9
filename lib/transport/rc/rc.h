// SPDX-License-Identifier: Apache-2.0
// The reliable connection (RC) of InfiniBand as RoCEv2 carries it: the baseline that MRC is
// compared with, behind the same endpoint. Go-back-N, an in-order receiver, one path per QP. What
// it shares with MRC - posting, flushing, the record of a QP - is in requester.c, event.c and qp.c.
//
//   rc.c          the birth of a QP, dispatch     rc_send.c     packets, ACK and NAK, go-back,
//   timer pace.c        QPs that wait for their rate    rc_receive.c  data in order, ACK, NAK, CNP
//
// Facts and choices: docs/protocol.md, section "RoCEv2 RC".
#pragma once

#include "endpoint/endpoint.h"

// What RC keeps of a QP beside what it shares with MRC. It lies where MRC has its pending
// immediates.
struct rc {
	// --- sending
	uint32_t sent_end;	// behind the newest PSN ever sent: before it all is retransmission
	uint32_t asked;		// with qp.asks_out: the newest PSN that asked for an ACK
	uint32_t unasked_bytes; // wire bytes since then
	uint8_t tries;		// waits and NAKs in a row that brought nothing
	uint8_t reason;		// enum rtx_reason of the last going back
	bool is_held;		// waits in the heap of endpoint.paced
	bool is_due;		// and its time came there
	ps_t deadline_ps;	// when the wait for an ACK ends, PS_NEVER = nothing is waited for
	ps_t next_at_ps;	// no packet leaves before, at the rate of congestion control
	uint32_t asked_at;	// units: when a packet asked for an ACK last
	// --- receiving
	bool is_nak_out;	// a NAK was sent, and the PSN it names is not here yet
	bool is_in_message;	// between First and Last
	uint32_t msn;		// requests done
	uint32_t rkey;		// of the message that is being received
	uint32_t message_bytes; // of it
	uint32_t left_bytes;	// of these not here
	uint64_t va;		// where its next packet goes
	ps_t cnp_at_ps;		// when the next CNP may leave
};

// Makes a QP that qp_open() has opened one of RC: its path is fixed here.
void rc_open(struct endpoint *endpoint, struct qp *qp, const struct qp_config *config);

// Takes any packet for a QP that is there; it is reused for the answer or given back.
void rc_receive(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now,
		struct outbox *out);

// ---------------------------------------------------------------- rc_send.c

// The next data packet of the QPs of `plane`, in turn. PACKET_NONE: none may leave now.
uint32_t rc_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out);

// An ACK or NAK came.
void rc_send_on_answer(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
		       ps_t now);

// The target's end of the path is congested: congestion control hears of it.
void rc_send_on_cnp(struct endpoint *endpoint, struct qp *qp, ps_t now);

// The QP's timer rang.
void rc_send_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now);

// ---------------------------------------------------------------- rc_receive.c

// Takes a data packet; it is reused for the answer or given back.
void rc_receive_data(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now,
		     struct outbox *out);

static inline struct rc *rc_of(const struct qp *qp)
{
	return (struct rc *)(void *)qp->pending_imm;
}
