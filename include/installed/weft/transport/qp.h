// SPDX-License-Identifier: Apache-2.0
// The life of a QP at an endpoint: its states, what it agrees on with its peer, and the calls that
// lead from state to state. What it does in between is in transport.h. Facts: docs/protocol.md,
// "The life of a QP" and "Contexts".
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/time.h>

// Why a QP went to ERROR.
enum qp_failure {
	QP_FAILURE_NONE,
	QP_FAILURE_RETRIES, // a packet used up its tries
	QP_FAILURE_REMOTE,  // the target met an error that ends the QP (NACK UNEXP_EVENT, NAK)
	QP_FAILURE_PROGRAM, // endpoint_fail()
};

// The life of a QP; which call is allowed when is in docs/protocol.md.
enum qp_state {
	QP_RESET, // knows nothing
	QP_INIT,  // is in use, has no peer yet
	QP_RTR,	  // ready to receive: takes packets and answers them, sends nothing of its own
	QP_RTS,	  // ready to send, too
	QP_ERROR, // drops packets, gives back what was posted
};

// What an end can do beyond the least. A QP does what both of its ends can.
enum qp_capability {
	QP_CAN_TRIM_NACK = 1 << 0,    // answers trimmed packets with NACKs
	QP_CAN_SERVICE_TIME = 1 << 1, // tells how long it had a packet before it answered
	QP_CAN_DYNAMIC_MPR = 1 << 2,  // changes its MPR as it goes
	QP_CAN_ACK = 1 << 3,	      // sends transport ACKs
	QP_NOTIFIED = 1 << 7,	      // of a qp_config: the peer announced its capabilities
};

// The two ends of a connection, as a control channel would exchange them. What the peer takes may
// be 0: as much as this end's own configuration says. The smaller of both sides rules.
struct qp_config {
	uint32_t local_nic, remote_nic;
	uint32_t remote_qpn;
	uint64_t id;		// names the QP's random stream; unique in the world, below 2^56
	uint32_t first_psn;	// PSN that what is sent starts with; low 24 bits on packets
	uint32_t rcv_psn;	// is_psn_apart: the same of what comes in; else it is first_psn
	uint32_t mtu;		// payload of a full packet that the peer takes and sends at most
	uint32_t mpr_dest;	// PSNs in flight that it takes
	uint32_t wimm_max_dest; // WRITE_WITH_IMM in flight that it takes
	uint16_t header_bytes;	// that it counts for a packet beside the payload
	uint8_t capabilities;	// QP_NOTIFIED and QP_CAN_...; without QP_NOTIFIED as this end
	bool is_psn_apart;
	uint16_t ev_profile, cc_profile; // of transport_profiles.h; 0: the endpoint's own
};

// What came in on a connection before this QP took it over: whole WRITE_WITH_IMMs in all.
struct qp_past {
	uint32_t packets, requests;
	uint64_t wire_bytes; // of these packets
};

// What a QP is like now.
struct qp_view {
	enum qp_state state;
	enum qp_failure failure; // with QP_ERROR
	uint32_t remote_nic, remote_qpn;
	uint32_t mtu, mpr, wimm_max; // agreed with the peer: what this end sends at most
	uint8_t capabilities;	     // QP_CAN_... of both ends
	uint32_t psn_next;	     // the next new PSN, 24 bits
	uint32_t psn_acked;	     // all before it are acknowledged
	uint32_t psn_wanted;	     // the oldest that did not come
	uint32_t psns_lost;	     // held lost, and not sent again yet
	uint32_t flight_bytes;	     // in flight, as far as this end knows, by its own count
	uint32_t window_bytes;	     // that may be
	uint16_t msn;		     // work requests posted
};

struct endpoint;
struct transport_config;

#ifdef __cplusplus
extern "C" {
#endif

// Takes QP number `qpn` (0 .. qp_max-1) from RESET to RTS at once. Draws no memory. -EINVAL,
// nothing changed: no such QP, another state, or what cannot be: a foreign NIC, an id of 2^56 or
// more, a profile that was not made.
int endpoint_connect(struct endpoint *endpoint, uint32_t qpn, const struct qp_config *config,
		     ps_t now);

// The same for a QP that goes on where another of this end was reset, which had received what
// `past` says and had sent nothing: what comes a second time is answered as a duplicate.
int endpoint_resume(struct endpoint *endpoint, uint32_t qpn, const struct qp_config *config,
		    const struct qp_past *past, ps_t now);

// As endpoint_connect() in steps: RESET to INIT, INIT to RTR, RTR to RTS. -EINVAL as above.
int endpoint_open(struct endpoint *endpoint, uint32_t qpn);
int endpoint_ready_to_receive(struct endpoint *endpoint, uint32_t qpn,
			      const struct qp_config *config, ps_t now);
int endpoint_ready_to_send(struct endpoint *endpoint, uint32_t qpn, ps_t now);

// Puts a QP in ERROR: what was posted will be polled as flushed. -EINVAL: no such QP, or in RESET.
int endpoint_fail(struct endpoint *endpoint, uint32_t qpn);

// Takes a QP from any state to RESET: what was posted is forgotten, and so are its completions that
// were not polled. Place orders stay; so do answers that wait for a line. -EINVAL: no such QP.
int endpoint_reset(struct endpoint *endpoint, uint32_t qpn);

// -EINVAL: no such QP.
int endpoint_query(const struct endpoint *endpoint, uint32_t qpn, struct qp_view *ret);

// QP_CAN_... bits of an end with this configuration.
uint8_t transport_capabilities(const struct transport_config *config);

// Bytes that one more QP draws, one more context and, of this, one entropy value. All are drawn by
// endpoint_create().
uint64_t endpoint_qp_bytes(void);
uint64_t endpoint_context_bytes(const struct transport_config *config);
uint64_t endpoint_ev_bytes(const struct transport_config *config);

// The most that endpoint_create() draws in all, its QPs included.
uint64_t endpoint_bytes(const struct transport_config *config, uint32_t qp_max);

// Contexts of an endpoint with `qp_max` QPs. RC, to which they are not new, has one for each.
uint32_t endpoint_contexts(const struct transport_config *config, uint32_t qp_max);

// Contexts that are neither free nor at rest: 0 when all is done.
uint32_t endpoint_contexts_busy(const struct endpoint *endpoint);

#ifdef __cplusplus
}
#endif
