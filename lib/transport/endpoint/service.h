// SPDX-License-Identifier: Apache-2.0
// The responder's time of service: what passes between a packet and the departure of its answer is
// added to the time stamp that the answer echoes, so that round trips leave it out, where both ends
// do so. While the answer waits its time stamp lacks the time of the arrival; when it leaves that
// of the departure is added.
#pragma once

#include "endpoint.h"

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
