// SPDX-License-Identifier: Apache-2.0
// What there is of a QP that does not talk, and how a context takes up its work and lays it down.
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/transport/transport.h>

struct endpoint;
struct qp;

// What a QP must never forget. At rest - nothing posted, nothing in flight, no hole, nothing owed -
// it needs no more than this to go on later as if it had kept everything; what it learned of paths
// and windows it learns again.
struct qp_record {
	uint64_t id;		   // names its random stream
	uint64_t rng, control_rng; // where its dice stand
	uint64_t rcvd_bytes;
	uint32_t heard_bytes; // and settled, at rest
	uint32_t count_base;
	int32_t count_more; // see flight.h
	uint32_t remote_nic, remote_qpn;
	uint32_t psn;		    // the next new one: all before it are acknowledged
	uint32_t sends;		    // work requests posted, running number
	uint32_t rcv_next;	    // oldest PSN not here
	uint32_t ops_done, ops_end; // requests done, PSN behind the last of them
	uint32_t epoch;		    // when a new packet came last, see mpr_grant.c
	uint32_t context;	    // number + 1; 0 = none
	uint32_t wait_next[2];	    // QP behind it of those that wait for a context, by enum need;
				    // number + 1
	uint32_t peer;		    // with port status: index + 1 of the peer that it leads to
	uint32_t peer_next, peer_prev; // the QPs beside it that lead there, number + 1
	uint32_t notified_next; // QP behind it of those to be notified that they may post, number +
				// 1
	uint16_t msn, rqmsn;	// of the next work request posted
	uint16_t rqmsn_wanted;
	uint16_t ev_profile, cc_profile;	       // 0: the endpoint's own
	uint16_t payload_bytes, mpr_limit, wimm_limit; // agreed with the peer
	uint8_t capabilities;			       // QP_CAN_... of both ends
	uint8_t state;				       // enum qp_state
	uint8_t failure;			       // enum qp_failure, with QP_ERROR
	bool has_received;			       // at least one packet
	bool has_dice;				       // rng and control_rng are set
	bool waits[2];				       // by enum need
	bool is_notified;			       // is among those to be notified
};
static_assert(sizeof(struct qp_record) <= 128, "QPs that do not talk must not cost memory");

// Writes down what a QP agrees on with its peer.
void record_agree(const struct endpoint *endpoint, struct qp_record *record,
		  const struct qp_config *config);

// Then that so much came in on it before.
void record_remember(struct qp_record *record, const struct qp_past *past);

// Lets a context, whose rings are clear, go on for QP `number` where its record ends.
void record_load(struct endpoint *endpoint, struct qp *qp, uint32_t number, ps_t now);

// Writes the state at rest of a QP to its record, and clears what it left in the rings.
void record_store(struct endpoint *endpoint, struct qp *qp);
