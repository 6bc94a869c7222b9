// SPDX-License-Identifier: Apache-2.0
// What arrived, and what is owed for it.
#pragma once

#include "endpoint/endpoint.h"

// Takes a data packet or a trimmed header; it is reused for the answer or given back.
void responder_receive(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now,
		       struct outbox *out);

// Gives a place order for a new data packet, if one is wanted.
void responder_place(struct endpoint *endpoint, const struct qp *qp, const struct packet *packet);

// Turns a probe into a SACK that answers it.
void responder_answer_probe(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			    struct outbox *out);

// The way back of an answer: the plane that its cause came by, where that is alive.
void responder_route(const struct endpoint *endpoint, struct qp *qp, struct packet *packet);

// Addresses a control packet back to where its cause came from, by `source`.
void responder_address(const struct endpoint *endpoint, uint32_t remote_qpn, struct packet *packet);

// Turns the descriptor into a control packet back to where it came from, by `source` and `plane`,
// and queues it. The fields in `u`, psn, opcode and timestamp are the caller's.
void responder_answer(struct endpoint *endpoint, struct qp *qp, uint32_t index, struct outbox *out);

// The responder's time of service: what passes between a packet and the departure of its answer is
// added to the time stamp that the answer echoes, so that round trips leave it out, where both ends
// do so. While the answer waits its time stamp lacks the time of the arrival; when it leaves that
// of the departure is added.

static inline uint16_t service_ticks(ps_t now)
{
	return (uint16_t)(now / TIMESTAMP_PS);
}

static inline bool service_is_left_out(const struct endpoint *endpoint, const struct qp *qp)
{
	return endpoint->config->service_time && (qp->capabilities & QP_CAN_SERVICE_TIME) != 0;
}

// The packet that came at `now` is turned into its answer.
static inline void service_begins(const struct endpoint *endpoint, const struct qp *qp,
				  struct packet *packet, ps_t now)
{
	if (service_is_left_out(endpoint, qp))
		packet->timestamp = (uint16_t)(packet->timestamp - service_ticks(now));
}

// An answer leaves: its payload handle, which no answer has, says that it lacks a time.
static inline void service_ends(struct packet *packet, ps_t now)
{
	if (packet->payload == 0)
		return;
	packet->payload = 0;
	packet->timestamp = (uint16_t)(packet->timestamp + service_ticks(now));
}
