// SPDX-License-Identifier: Apache-2.0
// By which cables the packets went that took long, with watch.delays where switches choose paths by
// a hash: then the way of a packet is a function of what stands in it.
#pragma once

#include <weft/core/packet.h>
#include <weft/fabric/fabric.h>

#define TAIL_LEVELS 32u
#define TAIL_CABLES_MAX 32768u // of a world: with more of them nothing is counted

// Data packets that took one and a quarter base round trips or longer, one way: by how much longer,
// in eighths of one, the last level without an end.
struct tail {
	uint64_t late_ps;
	const struct topology *topology;
	const uint32_t *first_links; // [nics][planes] the link at each port of each NIC
	uint32_t cables;
	uint64_t packets[TAIL_LEVELS];
	uint64_t *counts; // [TAIL_LEVELS][cables] those that went by each cable
};

#define TAIL_NEVER (UINT64_C(1) << 63) // late_ps of hosts that count no late packets

// A data packet took so long: tail->late_ps or more.
void tail_add(struct tail *tail, const struct packet *packet, uint64_t took_ps);
