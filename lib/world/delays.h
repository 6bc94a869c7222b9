// SPDX-License-Identifier: Apache-2.0
// What hosts measure of single packets and messages (watch.delays): at arrivals, and when messages
// are done. Nothing here changes what they do.
#pragma once

#include <weft/measure_delay.h>
#include <weft/packet.h>

#include "nic.h"

struct world_host;

// What a NIC keeps for that.
struct nic_delays {
	uint32_t *pair_of; // [QPs] that messages are sent on: pair of the world + 1; else 0
	// [QPs] of those that data come on: OPEN_QP while a message comes in on it; at the first of
	// a connection also how many of its QPs are so
	uint16_t *open;
	uint32_t senders; // connections that are
};

// A packet before its endpoint took it, and reused it for its answer.
struct delay_arrival {
	ps_t age_ps;	 // -1: not known (frames do not say it)
	uint64_t placed; // with may_open
	bool is_data;
	bool may_open; // it may be the first of a message
	uint32_t qpn;
	uint32_t path; // of one_way_path_ns
};

// Of a packet with payload.
struct delay_arrival delays_see(const struct packet *packet, const struct delays *delays,
				const struct nic *nic, ps_t now);

// It has been taken.
void delays_on_arrival(struct world_host *host, struct nic *nic, const struct delay_arrival *seen);

// A message that was sent on QP `qpn` is complete, or one that came on it.
void delays_on_sent(struct world_host *host, const struct nic *nic, uint32_t qpn, ps_t took_ns);
void delays_on_received(struct nic *nic, uint32_t qpn);
