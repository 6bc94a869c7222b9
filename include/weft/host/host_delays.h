// SPDX-License-Identifier: Apache-2.0
// What hosts measure of single packets and messages (watch.delays): at arrivals, and when messages
// are done. Nothing here changes what they do.
#pragma once

#include <weft/core/packet.h>
#include <weft/measure/measure_delay.h>

#include <weft/host/nic.h>

// Messages from one NIC to another, over the fabric.
struct pair_delay {
	uint32_t from_nic, to_nic;
	enum pair_class pair;
	struct hist message_ns; // post to completion at the sender; one digit
};

// Connections that were in the middle of a message at a NIC, over time.
struct nic_incast {
	struct depth_series most;
	uint32_t now; // at the end
};

struct world_host;

#define DELAYS_OPEN (1u << 15)

// What a NIC keeps for that.
struct nic_delays {
	uint32_t *pair_of;	   // [QPs] that messages are sent on: pair of the world + 1; else 0
	uint32_t senders;	   // connections in the middle of a message
	struct nic_incast *incast; // of the world; or NULL
	ps_t *came; // [QPs] at the first of a connection: when its last data came, 0: none; or NULL
	// [QPs] of those that data come on: DELAYS_OPEN while a message comes in on it; at the
	// first of a connection also how many of its QPs are so
	uint16_t open[];
};

// Whether a message may begin on QP `qpn`, on which none comes in. Packets before it opens ask.
bool delays_opens(const struct nic *nic, uint32_t qpn);

// The first of a message came in on the QP.
void delays_open(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now);

// A message that was sent on QP `qpn` is complete, or one that came on it.
void delays_on_sent(struct world_host *host, const struct nic *nic, uint32_t qpn, ps_t took_ns);
void delays_on_received(struct nic *nic, uint32_t qpn, ps_t now);

// Data came on the QP, of a NIC that has `came`.
void delays_note_gap(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now);
