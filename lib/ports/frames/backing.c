// SPDX-License-Identifier: Apache-2.0
// The frames behind packets. See backing.h.

#include <weft/ports/backing.h>

#include <errno.h>
#include <string.h>

#include <weft/host/write_target.h>
#include <weft/ports/payload.h>

int backing_init(struct backing *ret, struct arena *arena)
{
	ret->held = arena_draw(arena, ARENA_DRIVE, (size_t)ret->packets->capacity + 1,
			       sizeof(struct held));
	return ret->held == NULL ? -ENOMEM : 0;
}

enum wire_reason backing_read(struct backing *backing, const struct wire_config *config,
			      const struct frame *frame, uint32_t *ret_packet)
{
	uint32_t index = packet_get(backing->packets);
	struct packet *packet = packet_at(backing->packets, index);
	struct held *held = &backing->held[index];
	enum wire_reason reason = wire_parse(config, frame->bytes, frame->length, packet,
					     &held->view);
	if (reason != WIRE_FINE) {
		packet_put(backing->packets, index);
		return reason;
	}
	packet->payload = packet->payload_bytes > 0 ? index : 0; // the handle is the packet
	held->owner = frame->owner;
	held->bytes = frame->bytes;
	*ret_packet = index;
	return WIRE_FINE;
}

// Something of a host's own: no frame had it.
static void move(const struct backing *backing, const struct dma_write *order)
{
	check(order->rkey == RKEY_MOVED);
	if (backing->options->move != NULL)
		backing->options->move(backing->options->payload_context, order);
}

uint32_t backing_dma_write(const struct backing *backing, const struct dma_write *order)
{
	const struct held *held = &backing->held[order->payload];
	if (order->payload == 0) {
		move(backing, order);
		return 0;
	}
	struct payload_origin spot = {order->nic, order->qp, order->rkey, order->va};
	const uint8_t *payload = held->bytes + held->view.payload_at;
	check(order->bytes == held->view.payload_bytes);
	if (backing->options->store == NULL)
		return payload_wrong(&spot, payload, order->bytes);
	backing->options->store(backing->options->payload_context, order, payload);
	return 0;
}

void backing_give(const struct backing *backing, const struct arrival *arrivals, uint32_t count)
{
	struct ports *ports = backing->ports;
	void *owners[PORT_BURST];
	uint32_t waiting = 0;
	for (uint32_t i = 0; i < count; i++) {
		owners[waiting++] = backing->held[arrivals[i].packet].owner;
		if (waiting == PORT_BURST || i + 1 == count) {
			ports->ops->give(ports, owners, waiting);
			waiting = 0;
		}
	}
}

// The payload stays where it is, and the device reads it there.
static bool write_apart(const struct backing *backing, const struct packet *packet,
			struct frame *frame)
{
	struct ports *ports = backing->ports;
	struct wire_view view;
	const uint8_t *payload;
	if (ports->ops->lend == NULL)
		return false;
	frame->length = codec_write_apart(backing->codec, packet, frame->bytes, &payload, &view);
	return frame->length > 0 &&
		ports->ops->lend(ports, frame, view.payload_at, payload, view.payload_bytes);
}

void backing_write(const struct backing *backing, uint32_t packet, struct frame *frame)
{
	if (write_apart(backing, packet_at(backing->packets, packet), frame))
		return;
	frame->length = codec_write(backing->codec, packet_at(backing->packets, packet),
				    frame->bytes);
}

void backing_patch(const struct backing *backing, uint32_t packet, struct frame *ret)
{
	const struct held *held = &backing->held[packet];
	*ret = (struct frame){.owner = held->owner, .bytes = held->bytes};
	ret->length = (uint32_t)wire_patch(&backing->codec->nic,
					   packet_at(backing->packets, packet), held->bytes,
					   &held->view);
}

void backing_end(const struct backing *backing, uint32_t packet)
{
#ifdef WEFT_ZERO_DESCRIPTORS // debug builds: whoever still reads it is found
	memset(packet_at(backing->packets, packet), 0, sizeof(struct packet));
#endif
	packet_put(backing->packets, packet);
}
