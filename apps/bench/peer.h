// SPDX-License-Identifier: Apache-2.0
// A NIC that does nothing but its endpoint: keeps writes posted on its QPs, or only answers. It
// has one line that is always free; what limits it is the room in its outbox.
#pragma once

#include <stdbool.h>

#include <weft/core/machine.h>
#include <weft/transport/transport.h>

#define PEER_QPS 4

struct peer {
	struct endpoint *endpoint;
	const struct transport_config *config;
	uint32_t nic;
	uint64_t posted[PEER_QPS]; // writes
};

// Draws the endpoint of NIC 0 or 1 and connects it with the other's.
int peer_init(struct peer *peer, struct arena *arena, const struct transport_config *config,
	      uint32_t nic, struct refusal *refusal);

// Fills the QPs with writes; each that is done is followed by another.
void peer_post(struct peer *peer);

struct machine peer_machine(struct peer *peer);
