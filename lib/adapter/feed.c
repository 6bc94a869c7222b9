// SPDX-License-Identifier: Apache-2.0
// Frames that come in. What is no packet never reaches the endpoint; what the endpoint says is new,
// and may be written where it is to go, is copied there before the call ends.
#include "adapter.h"

#include <errno.h>
#include <string.h>

#define HANDLE 1u // payload handle of the one packet at hand

// The endpoint's word for whom the packet is for. What is for its ports has a number of its own.
static uint32_t number_at(const struct packet *packet)
{
	bool is_of_ports = packet->opcode == PACKET_ENDPOINT_REQUEST ||
		packet->opcode == PACKET_ENDPOINT_RESPONSE;
	return is_of_ports ? packet->qpn : adapter_number(packet->qpn);
}

// The own port that the frame is for.
static uint32_t plane_of(const struct adapter *adapter, const uint8_t gid[16])
{
	uint32_t plane = 0, planes = adapter->config.transport.planes;
	while (plane < planes && memcmp(adapter->ends[plane].gid, gid, 16) != 0)
		plane++;
	return plane;
}

// Who sent a frame, and where it came in, by its addresses. Who is not known is no NIC's QP.
static void name_ends(const struct adapter *adapter, const void *frame,
		      const struct wire_view *view, struct packet *packet)
{
	struct wire_ends ends;
	wire_ends_read(frame, view, &ends);
	packet->target = adapter->config.nic;
	packet->plane = (uint8_t)plane_of(adapter, ends.target.gid);
	packet->source = host_find(&adapter->hosts, ends.source.gid);
}

static enum wire_reason parse(struct adapter *adapter, const void *frame, size_t bytes,
			      struct packet *ret, struct wire_view *ret_view)
{
	enum wire_reason reason = wire_parse(&adapter->config.wire, frame, bytes, ret, ret_view);
	if (reason != WIRE_FINE)
		return reason;
	if (adapter_is_given(adapter) && ret_view->has_srv6) // whoever took it out was to
		return WIRE_FOREIGN_ADDRESS;
	if (adapter_is_given(adapter))
		name_ends(adapter, frame, ret_view, ret);
	if (ret->target != adapter->config.nic || ret->plane >= adapter->config.transport.planes)
		return WIRE_FOREIGN_ADDRESS;
	return WIRE_FINE;
}

// Copies the payload of the packet at hand if the endpoint wants it. It wants each one once.
static void write_payload(struct adapter *adapter, const uint8_t *payload)
{
	struct dma_write order;
	while (endpoint_poll_dma_writes(adapter->endpoint, &order, 1) == 1) {
		if (order.payload != HANDLE)
			continue; // a notice: nothing to copy
		const struct mapping *mapping = mapping_find(&adapter->mappings, order.rkey);
		check(mapping != NULL);
		memcpy(mapping_at(mapping, order.va, order.bytes), payload, order.bytes);
		adapter->counters.bytes_placed += order.bytes;
	}
}

// A descriptor of the endpoint's with what came.
static uint32_t own_of(struct adapter *adapter, const struct packet *packet)
{
	uint32_t index = packet_get(&adapter->packets);
	check(index != PACKET_NONE && "all that an endpoint can hold, and this one");
	struct packet *own = packet_at(&adapter->packets, index);
	*own = *packet;
	own->qpn = number_at(packet);
	own->payload = packet->payload_bytes > 0 ? HANDLE : 0;
	return index;
}

// Whether there is room for all completions that the packet can cause. Where programs do not poll,
// what causes none is taken still, lest answers that came seem to be lost.
static bool has_room(const struct adapter *adapter, uint32_t index)
{
	return adapter_room(adapter) >= adapter->completions_burst ||
		!endpoint_may_complete(adapter->endpoint, packet_at(&adapter->packets, index));
}

// Whether a WRITE_WITH_IMM finds no receive request: both are numbered from the connection on.
static bool lacks_receive(const struct adapter *adapter, const struct packet *packet)
{
	bool has_imm = packet->opcode == PACKET_WRITE_LAST_IMM ||
		packet->opcode == PACKET_WRITE_ONLY_IMM;
	uint32_t number = adapter_number(packet->qpn);
	if (adapter->config.receives_max == 0 || !has_imm || number >= adapter->opened)
		return false;
	uint16_t posted = (uint16_t)adapter->connections[number].receives_posted;
	return (int16_t)(uint16_t)(packet->u.data.rqmsn - posted) >= 0;
}

static void take(struct adapter *adapter, uint32_t index, const uint8_t *payload, ps_t now)
{
	endpoint_receive(adapter->endpoint, index, now, &adapter->out);
	write_payload(adapter, payload);
	adapter_drain(adapter);
	adapter_press(adapter);
}

int adapter_feed(struct adapter *adapter, const void *frame, size_t bytes, ps_t now_ps)
{
	ps_t now = adapter_clock(adapter, now_ps);
	struct packet packet;
	struct wire_view view;
	enum wire_reason reason = parse(adapter, frame, bytes, &packet, &view);
	if (reason != WIRE_FINE) {
		adapter->counters.refused[reason]++;
		return (int)reason;
	}
	uint32_t index = own_of(adapter, &packet);
	if (lacks_receive(adapter, &packet)) {
		adapter->counters.no_receive++;
		endpoint_refuse(adapter->endpoint, index, &adapter->out);
		return -ENOBUFS;
	}
	if (!has_room(adapter, index)) {
		adapter->counters.no_room++;
		endpoint_turn_away(adapter->endpoint, index, &adapter->out);
		return -ENOBUFS;
	}
	adapter->counters.frames_fed++;
	adapter->counters.bytes_fed += view.frame_bytes;
	take(adapter, index, (const uint8_t *)frame + view.payload_at, now);
	return 0;
}
