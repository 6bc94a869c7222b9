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

#define ALONE UINT32_MAX // no mate

struct matching {
	struct sightings *both;
	uint32_t *orders[2]; // by name, then by time
	int64_t *values;     // [count of A]
	struct between *ret;
	double drift;		// ns of B's clock for one of A's, less 1
	int64_t from_ns, to_ns; // of A's clock: the first and the last packet that both have
	int64_t first_ns[2], last_ns[2]; // of each capture
};

static inline int64_t difference(const struct matching *all, const struct sighting *of)
{
	return all->both[1].list[of->mate].at_ns - of->at_ns;
}

// B's time less A's, the drift taken off.
static inline int64_t level(const struct matching *all, const struct sighting *of)
{
	return difference(all, of) - (int64_t)(all->drift * (double)(of->at_ns - all->from_ns));
}

// Counts what happened between the points, once mates, ways and clocks are known. False: no memory.
bool matching_count(struct matching *all);
