// SPDX-License-Identifier: Apache-2.0
// What hosts saw of each other as frames: how many went either way, by how many paths, over how
// many hops.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/packet.h>

#ifdef __cplusplus
extern "C" {
#endif

struct seen_pair {			   // of one host, about another one
	uint64_t frames_left, frames_came; // for it, and from it; faults may take some
	uint32_t paths_left, paths_came;   // planes and EVs of these, each pair once
	uint8_t hops_least, hops_most;	   // that passed on what came: its hop limit says
	bool is_more;			   // there were more paths than are remembered
};

// Paths by which frames went one way: a table of keys, 0 where nothing is.
struct seen_paths {
	uint64_t *keys; // [seen->places]
	uint32_t count;
	bool is_more;
};

struct seen_other {
	struct seen_paths left, came;
	uint64_t frames_left, frames_came;
	uint8_t hops_least, hops_most;
};

struct seen {
	struct seen_other *of; // [host_count][hosts]; NULL: too many for a table, nothing is noted
	uint32_t hosts, host_first, host_count;
	uint32_t nics_per_host;
	uint32_t places;  // of each table of paths, a power of two
	uint32_t ev_mask; // what frames carry of an EV
	uint8_t hop_limit;
};

// Draws the tables of `ret`, of which the numbers are given, with room for `paths` each way, if
// that is not too much. -ENOMEM.
int seen_init(struct seen *ret, struct arena *arena, uint64_t paths);

// A packet left host `host`, or came there with `hop_limit`. Each host has one thread.
void seen_left(struct seen *seen, uint32_t host, const struct packet *packet);
void seen_came(struct seen *seen, uint32_t host, const struct packet *packet, uint8_t hop_limit);

// What `host` saw of `other`. All 0 where nothing was noted.
void seen_pair(const struct seen *seen, uint32_t host, uint32_t other, struct seen_pair *ret);

#ifdef __cplusplus
}
#endif
