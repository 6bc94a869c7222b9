// SPDX-License-Identifier: Apache-2.0
// What a host in wall time saw of each other host: frames either way, by how many paths, over how
// many hops.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/wall/wall.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wall_peer {
	uint64_t frames_left, frames_came; // for it, and from it; faults of the scenario take some
	uint32_t paths_left, paths_came;   // planes and EVs of these, each pair once
	uint8_t hops_least, hops_most; // that passed on the frames that came: their hop limit says
	bool is_more;		       // there were more paths than were remembered
};

void wall_peer(const struct wall *wall, uint32_t host, struct wall_peer *ret);

#ifdef __cplusplus
}
#endif
