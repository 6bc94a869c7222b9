// SPDX-License-Identifier: Apache-2.0
// Frames that go out. A packet becomes one at the moment of its departure, with the bytes that the
// program's memory has then.
#include "adapter.h"

#include <errno.h>
#include <string.h>

// The bytes of a write's packet, in the memory that was posted.
static const uint8_t *payload_of(const struct adapter *adapter, const struct packet *packet)
{
	const struct packet_data *data = &packet->u.data;
	const struct connection *connection = connection_of(adapter, packet->target, packet->qpn);
	check(connection != NULL);
	const struct source *source = &connection->sources[data->msn & adapter->sources_mask];
	uint64_t at = data->va - source->va;
	check(at < source->bytes && packet->payload_bytes <= source->bytes - at);
	return source->local + at;
}

// The headers of a packet, with the addresses of its NICs.
static size_t write_headers(const struct adapter *adapter, const struct packet *packet, void *frame,
			    size_t capacity, struct wire_view *ret_view)
{
	const struct wire_config *wire = &adapter->config.wire;
	if (!adapter_is_given(adapter))
		return wire_build(wire, packet, frame, capacity, ret_view);
	struct packet plain = *packet; // the rule has an address for these, which is written over
	plain.source = plain.target = plain.plane = 0;
	size_t bytes = wire_build(wire, &plain, frame, capacity, ret_view);
	const struct wire_ends ends = {
		.source = adapter->ends[packet->plane],
		.target = *host_end(&adapter->hosts, packet->target, packet->plane),
	};
	wire_ends_write(&ends, host_at(&adapter->hosts, packet->target)->port, frame, ret_view);
	return bytes;
}

static size_t write_frame(const struct adapter *adapter, const struct packet *packet, void *frame,
			  size_t capacity)
{
	struct wire_view view;
	size_t bytes = write_headers(adapter, packet, frame, capacity, &view);
	if (view.payload_bytes > 0)
		memcpy((uint8_t *)frame + view.payload_at, payload_of(adapter, packet),
		       view.payload_bytes);
	wire_seal(frame, &view);
	return bytes;
}

int adapter_pull(struct adapter *adapter, uint32_t plane, void *buffer, size_t capacity,
		 ps_t now_ps)
{
	ps_t now = adapter_clock(adapter, now_ps);
	if (plane >= adapter->config.transport.planes)
		return -EINVAL;
	if (capacity < adapter->frame_bytes)
		return -EMSGSIZE;
	uint32_t index = endpoint_next(adapter->endpoint, plane, now, &adapter->out);
	if (index == PACKET_NONE) {
		check(adapter->out.limit == OUTBOX_WITHIN);
		return 0;
	}
	const struct packet *packet = packet_at(&adapter->packets, index);
	size_t bytes = write_frame(adapter, packet, buffer, capacity);
	adapter->free_at[plane] = now + line_ps(adapter->line, packet->wire_bytes);
	packet_put(&adapter->packets, index);
	adapter->counters.frames_pulled++;
	adapter->counters.bytes_pulled += bytes;
	return (int)bytes;
}

size_t adapter_frame_bytes(const struct adapter *adapter)
{
	return adapter->frame_bytes;
}

ps_t adapter_free_at(const struct adapter *adapter, uint32_t plane)
{
	return plane < adapter->config.transport.planes ? adapter->free_at[plane] : PS_NEVER;
}

ps_t adapter_next_at(const struct adapter *adapter, ps_t now_ps)
{
	ps_t now = ps_max(adapter->now, now_ps), next = endpoint_wake_at(adapter->endpoint);
	if (!endpoint_has_work(adapter->endpoint))
		return next;
	for (uint32_t plane = 0; plane < adapter->config.transport.planes; plane++)
		if (adapter->free_at[plane] > now) // those free by now had nothing to send
			next = ps_min(next, adapter->free_at[plane]);
	return next;
}
