// SPDX-License-Identifier: Apache-2.0
// Ready-made packets that wait for the line of their plane: answers, and what timers send. They
// leave before data. Their number is bounded, see ENDPOINT_CONTROL_MAX.
#pragma once

#include "endpoint.h"
#include "path/status.h"

// Queues a packet for its plane. When the queue is full, or no port has light, it is given back and
// counted: whoever waits for such a packet has a timer. False when it did not wait.
static inline bool control_send(struct endpoint *endpoint, uint32_t index, struct outbox *out)
{
	struct fifo *queue = &endpoint->control[packet_at(out->packets, index)->plane];
	if (queue->count == ENDPOINT_CONTROL_MAX || status_has_no_port(endpoint)) {
		endpoint->counters.answers_dropped++;
		packet_put(out->packets, index);
		return false;
	}
	fifo_push(queue, out->chunks, index);
	endpoint->held++;
	endpoint->work++;
	return true;
}

// The way back of an answer: the plane that its cause came by, where that is alive.
void control_route(const struct endpoint *endpoint, struct qp *qp, struct packet *packet);

// Addresses a control packet back to where its cause came from, by `source`.
void control_address(const struct endpoint *endpoint, uint32_t remote_qpn, struct packet *packet);

// Turns the descriptor into a control packet back to where it came from, by `source` and `plane`,
// and queues it. The fields in `u`, psn, opcode and timestamp are the caller's.
void control_answer(struct endpoint *endpoint, struct qp *qp, uint32_t index, struct outbox *out);

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
