// SPDX-License-Identifier: Apache-2.0
// Whether the payload of a data packet may be placed.
#pragma once

#include "endpoint/endpoint.h"

// The same as below, of any packet but the usual one, which placement_refused() lets through.
enum refused_reason placement_span_refused(const struct endpoint *endpoint, const struct qp *qp,
					   const struct packet *packet);

// Why the payload of a new packet may not be placed, REFUSED_REASON_COUNT when it may. RETH stands
// on every packet, so every packet is asked; what several of them say together is not compared.
static inline enum refused_reason
placement_refused(const struct endpoint *endpoint, const struct qp *qp, const struct packet *packet)
{
	uint32_t full = qp->payload_bytes;
	const struct packet_data *data = &packet->u.data;
	const struct region *region = region_first(&endpoint->regions, data->rkey);
	if (packet->opcode == PACKET_WRITE_MIDDLE && packet->payload_bytes == full &&
	    data->message_bytes / 2 > full && region->rkey == data->rkey &&
	    region_holds(region, data->va, full))
		return REFUSED_REASON_COUNT;
	return placement_span_refused(endpoint, qp, packet);
}
