// SPDX-License-Identifier: Apache-2.0
// Who is behind which MAC: a host tells its link where its addresses are, answers who asks, and
// sends to the MAC that a NIC of the world announced, or by the address rule where none did.
//
// The first word of a NIC holds for a run: nothing in ARP says that a later one is true.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/ports/port.h>

struct wall;

struct next_hop {
	uint8_t mac[6];
	bool is_known;
};

// Draws the table. -ENOMEM.
int neighbour_init(struct wall *wall);

// Tells the link of a port where this host's addresses are, and asks for those of the others.
void neighbour_announce(struct wall *wall, uint32_t port);

// Whether a frame is ARP or neighbour discovery of, or for, a NIC of the world: then it was heard.
// Its bytes stay the caller's.
bool neighbour_take(struct wall *wall, uint32_t line, const struct frame *frame);

// Writes the MACs of a frame that leaves by a line.
void neighbour_address(const struct wall *wall, const struct packet *packet, uint32_t line,
		       struct frame *frame);
