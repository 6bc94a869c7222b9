// SPDX-License-Identifier: Apache-2.0
// What the loop notes of other hosts. See include/weft/wall/peer.h.
#pragma once

#include <weft/wall/peer.h>

struct packet;

// Paths by which frames went one way: a table of keys, 0 where nothing is.
struct path_set {
	uint64_t *keys; // [wall->path_places]
	uint32_t count;
	bool is_more;
};

struct peer {
	struct path_set left, came;
	uint64_t frames_left, frames_came;
	uint8_t hops_least, hops_most;
};

// Draws the tables. -ENOMEM.
int peer_init(struct wall *wall);

void peer_note_left(struct wall *wall, const struct packet *packet);
void peer_note_came(struct wall *wall, const struct packet *packet, uint8_t hop_limit);
