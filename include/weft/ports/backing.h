// SPDX-License-Identifier: Apache-2.0
// The frames behind packets: a frame that came becomes a packet of a pool, the frame stays at hand
// until it is given back, and a packet that leaves becomes a frame. What both loops that carry
// frames do with them, windows of virtual time (engine) and turns of a clock (wall).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/machine.h>
#include <weft/ports/codec.h>
#include <weft/ports/port.h>

#ifdef __cplusplus
extern "C" {
#endif

// What is kept of a frame while its packet is in a machine.
struct held {
	void *owner;
	uint8_t *bytes;
	struct wire_view view;
};

struct backing {
	const struct codec *codec;
	struct ports *ports; // whose frames these are
	struct packet_pool *packets;
	const struct ports_options *options; // who keeps payload; none of its words: the pattern
	struct held *held;		     // [packets + 1]
};

// Draws the table for the packets of `ret->packets`; the rest is the caller's to fill in. -ENOMEM.
int backing_init(struct backing *ret, struct arena *arena);

// Makes a packet of a frame, of which there is one at least in the pool. The payload's handle is
// the packet's index. On refusal the packet is back in the pool, and the frame is still the
// caller's.
enum wire_reason backing_read(struct backing *backing, const struct wire_config *config,
			      const struct frame *frame, uint32_t *ret_packet);

// Executes a place order of a host: keeps the payload, or compares it with the pattern of where it
// belongs. Returns how many of its bytes are wrong.
uint32_t backing_dma_write(const struct backing *backing, const struct dma_write *order);

// Gives back the frames behind `count` packets that arrived.
void backing_give(const struct backing *backing, const struct arrival *arrivals, uint32_t count);

// Writes the frame of a packet that a NIC sends, whole, into one that was taken of the ports.
void backing_write(const struct backing *backing, uint32_t packet, struct frame *frame);

// The frame of a packet that a switch sends on: that which it came in, patched.
void backing_patch(const struct backing *backing, uint32_t packet, struct frame *ret);

// The descriptor's life ends: what it said is in a frame.
void backing_end(const struct backing *backing, uint32_t packet);

#ifdef __cplusplus
}
#endif
