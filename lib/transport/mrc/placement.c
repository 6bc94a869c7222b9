// SPDX-License-Identifier: Apache-2.0
// What is asked of a data packet before its payload is placed. Which memory there is, is in
// region.c.
#include "placement.h"

// Where the bytes lie that a packet lets know of its message: a first packet all of it, a last
// packet, too, a middle one itself alone. False when its payload contradicts opcode or length.
static bool span_of(const struct packet *packet, uint64_t full, uint64_t *ret_va,
		    uint64_t *ret_bytes)
{
	const struct packet_data *data = &packet->u.data;
	uint64_t payload = packet->payload_bytes, whole = data->message_bytes;
	*ret_va = data->va;
	*ret_bytes = whole;
	switch (packet->opcode) {
	case PACKET_WRITE_FIRST:
		return payload == full && whole > full;
	case PACKET_WRITE_MIDDLE:
		*ret_bytes = payload;
		return payload == full && whole > 2 * full;
	case PACKET_WRITE_LAST:
	case PACKET_WRITE_LAST_IMM:
		*ret_va -= whole - payload;
		return payload != 0 && payload <= full && whole > full &&
			(whole - payload) % full == 0;
	default: // ONLY
		return payload != 0 && payload <= full && whole == payload;
	}
}

enum refused_reason placement_span_refused(const struct endpoint *endpoint, const struct qp *qp,
					   const struct packet *packet)
{
	uint64_t va, bytes;
	const struct region *region = region_find(&endpoint->regions, packet->u.data.rkey);
	bool is_true = span_of(packet, qp->payload_bytes, &va, &bytes);
	if (is_true && region && region_holds(region, va, bytes))
		return REFUSED_REASON_COUNT;
	enum refused_reason reason = is_true ? REFUSED_BOUNDS : REFUSED_LENGTH;
	return region ? reason : REFUSED_KEY;
}
