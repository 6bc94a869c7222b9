// SPDX-License-Identifier: Apache-2.0
// Packets as two capture points saw them, and what that says of what lies between.
#pragma once

#include "between.h"

struct sighting {
	uint64_t name; // hash of what no switch changes
	int64_t at_ns;
	uint64_t number; // of the packet in its capture
	uint32_t stream, source, target;
	uint32_t mate; // index at the other point; UINT32_MAX: none
	uint8_t dscp, ecn, hop_limit;
	bool is_trimmed, is_damaged;
	uint8_t way; // 0: from A to B
};

// In the order of a capture.
struct sightings {
	struct sighting *list;
	uint32_t count, room;
};

// Matches both and fills in *ret but for its frames. False: no memory.
bool sightings_compare(struct between *ret, struct sightings both[2]);
