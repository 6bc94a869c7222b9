// SPDX-License-Identifier: Apache-2.0
// What all packets of data have in common when they leave: a path, an address, a place in the
// counters.
#pragma once

#include <weft/core/packet_stamp.h>
#include <weft/measure/measure_evs.h>

#include "endpoint.h"
#include "path/balance.h"

// Times or counts a packet of data that leaves by that EV number. Without a call: what runs beside
// it would have to save its registers.
static inline void outgoing_note(const struct endpoint *endpoint, const struct qp *qp,
				 uint32_t ev_index, ps_t now, struct packet *packet)
{
	struct ev_count *counts = endpoint->ev_counts != NULL ? endpoint->ev_counts[qp->number]
							      : NULL;
	if (endpoint->delays != NULL)
		packet_stamp(packet, now);
	if (counts == NULL)
		return;
	counts[ev_index].packets++;
	counts[ev_index].bytes += packet->wire_bytes;
}

// Where a packet goes, and by which path.
static inline void outgoing_address(const struct endpoint *endpoint, const struct qp *qp,
				    uint32_t ev_index, ps_t now, struct packet *packet)
{
	packet->source = endpoint->nic;
	packet->target = qp->remote_nic;
	packet->qpn = qp->remote_qpn;
	packet->ev = path_value(&qp->path, ev_index);
	packet->timestamp = (uint16_t)((uint64_t)now / TIMESTAMP_PS);
	if (__builtin_expect(endpoint->is_noted, 0))
		outgoing_note(endpoint, qp, ev_index, now, packet);
}

// The path of the next packet, its rule known or looked up.
static inline struct path_choice outgoing_pick(struct path_set *set, uint32_t plane, uint32_t avoid,
					       bool must_arrive)
{
	if (set->balance)
		return (struct path_choice){balance_next(set, plane), false};
	if (__builtin_expect(must_arrive, 0))
		return path_pick_heard(set, plane, avoid);
	return path_pick(set, plane, avoid);
}

static inline void outgoing_count(struct endpoint *endpoint, uint32_t plane, uint32_t packets,
				  uint64_t wire_bytes)
{
	endpoint->counters.data_packets += packets;
	endpoint->counters.data_bytes += wire_bytes;
	endpoint->counters.plane_bytes[plane] += wire_bytes;
}
