// SPDX-License-Identifier: Apache-2.0
// The one piece of memory of a world. The driver gives it, the builders draw from it, then it is
// sealed: drawing later is a bug that stops the program. Each draw names its room, so that
// --footprint can add up.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arena_room {
	ARENA_CORE,	 // packet pool, queue and cable chunks
	ARENA_MEASURE,	 // histograms and counters
	ARENA_CC,	 // congestion control state that is not inside a QP
	ARENA_TRANSPORT, // endpoints, QPs, EV sets
	ARENA_FABRIC,	 // switches, ports, routes, scale-up domains
	ARENA_WORKLOAD,	 // collectives, jobs, message lists
	ARENA_WORLD,	 // hosts, machines, cables' plans
	ARENA_DRIVE,	 // cables, active set, scratch of the driver
	ARENA_ROOM_COUNT
};

struct arena {
	uint8_t *base;			      // given by the driver, zeroed
	size_t size;			      // bytes at `base`
	size_t used;			      // bytes drawn, padding included
	size_t drawn_bytes[ARENA_ROOM_COUNT]; // bytes drawn per room, padding included
	bool is_sealed;
	bool has_failed; // a draw found too little: from there on all do
};

#ifdef __cplusplus
extern "C" {
#endif

// Takes `size` zeroed bytes at `base` (64-byte aligned); the caller keeps ownership of the memory.
void arena_init(struct arena *arena, void *base, size_t size);

// `count` zeroed elements of `bytes` each, aligned to 64 bytes when the block is 64 bytes or more,
// else to 16. NULL when the arena is too small, and for every draw after that: who draws several
// things asks arena_has_failed() once, before it writes into any, and refuses with -ENOMEM. A draw
// after arena_seal() is a bug. Zero bytes give a valid pointer that must not be read.
void *arena_draw(struct arena *arena, enum arena_room room, size_t count, size_t bytes);

// Whether a draw found too little.
static inline bool arena_has_failed(const struct arena *arena)
{
	return arena->has_failed;
}

// Ends the building: from here on arena_draw() stops the program.
void arena_seal(struct arena *arena);

// The name of a room as --footprint prints it.
const char *arena_room_name(enum arena_room room);

#ifdef __cplusplus
}
#endif
