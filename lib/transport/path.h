// SPDX-License-Identifier: Apache-2.0
// The entropy values (EVs) of one QP: which one the next packet takes, and what is known about the
// health of each. Not in here: what a packet does at a switch with its EV. Facts: docs/protocol.md,
// section on multipath.
//
// EV number i belongs to plane i mod planes, so each plane has the same number of them. The value
// on the packet is a random upper part per QP and the number below it; a value of 16 bits is at
// least PATH_PORT_FIRST.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/rng.h>
#include <weft/time.h>
#include <weft/transport.h>

// A plane is held dead after so many losses with no arrival between them. A NIC knows when its own
// port is down and is told of its peer's; without such messages the losses have to say it, and one
// EV at a time would take a timer each.
#define PATH_PLANE_LOSSES 6

// Values of 16 bits are UDP source ports: they begin with the ephemeral ports of IANA, which RoCEv2
// takes too, so that no reader of frames finds the port of a service in them.
#define PATH_PORT_FIRST (UINT32_C(0x10000) - EVS_OF_PORT_MAX)

#define PATH_NO_EV UINT32_MAX // "any EV will do": nothing to avoid

enum path_state { PATH_GOOD, PATH_SKIP, PATH_ASSUMED_BAD };

// What all QPs of an endpoint have in common.
struct path_shape {
	uint32_t planes;
	uint32_t per_plane;  // EVs of a plane, a power of two
	uint32_t index_mask; // bits of an EV that are its number
	uint32_t drawn_mask; // bits that each QP draws
	uint32_t fixed;	     // bits that every EV has set
	enum path_policy policy;
	ps_t retry_ps; // an ASSUMED_BAD EV is tried again after this
};

// One plane's rotation: a round visits each EV number of the plane once, in the order of the
// position with some bits flipped; each round flips other bits.
struct path_plane {
	uint16_t at;	   // position in this round
	uint16_t mask;	   // bits flipped in this round
	uint16_t bad;	   // EVs in ASSUMED_BAD
	uint16_t unusable; // EVs in SKIP or ASSUMED_BAD
	uint32_t trial_at; // closed: when the next packet may try an EV, in units of 2^20 ps
	uint16_t lost;	   // packets lost in a row: since one is known to have arrived
	bool is_closed;	   // so many that the plane itself is held dead
};

// What path_pick() gives.
struct path_choice {
	uint32_t index; // EV number
	bool is_trial;	// it is held bad: the answer to this packet decides
};

struct path_set {
	const struct path_shape *shape;
	struct rng rng;		// rounds of data packets
	struct rng control_rng; // EVs of control packets: they must not move the dice of the data
	uint32_t upper;		// upper part of each EV: drawn, and what is fixed
	uint32_t single;	// PATH_SINGLE: the EV number
	uint32_t bad;		// EVs in ASSUMED_BAD, all planes
	uint32_t lost;		// sum of `lost` of all planes
	uint8_t *states;	// [ev_count] enum path_state
	uint32_t *retry_at;	// [ev_count] time in units of 2^20 ps, wraps
	struct path_plane planes[PLANES_MAX];
};

// The shape that a valid configuration asks for.
struct path_shape path_shape_of(const struct transport_config *config);

// Bytes of `states` and `retry_at` together.
uint64_t path_bytes(const struct path_shape *shape);

// Starts a set in `memory` of path_bytes(), zeroed.
void path_init(struct path_set *set, const struct path_shape *shape, void *memory, struct rng rng);

// Whether `plane` is held dead, or every EV of it bad, and none may be tried yet: nothing should be
// sent there. Never true of all planes: somewhere packets must go.
bool path_is_closed(const struct path_set *set, uint32_t plane, ps_t now);

// The EV that the next packet on `plane` takes, another one than `avoid` where there is one. There
// always is one: when nothing is usable it is the last one looked at, as a trial.
struct path_choice path_pick(struct path_set *set, uint32_t plane, uint32_t avoid, ps_t now);

// An EV value for a control packet on `plane`, any state.
uint32_t path_control(struct path_set *set, uint32_t plane);

// The losses in a row on a plane end; a closed one opens.
void path_plane_alive(struct path_set *set, uint32_t plane);

// Feedback about an EV number: a packet that took it arrived (a bad one is good again), was marked
// or trimmed on the way (skip one turn), was lost (assumed bad). True when its state changed.
bool path_arrived(struct path_set *set, uint32_t index);

// A packet that took this EV is known to have arrived, though no feedback came back for it alone:
// its plane is alive. The EV keeps its state.
static inline void path_heard(struct path_set *set, uint32_t index)
{
	if (set->lost > 0)
		path_plane_alive(set, index % set->shape->planes);
}

bool path_skip(struct path_set *set, uint32_t index);
bool path_retire(struct path_set *set, uint32_t index, ps_t now);

// The value on the packet, and back. path_index() gives PATH_NO_EV for an EV of another QP.
static inline uint32_t path_value(const struct path_set *set, uint32_t index)
{
	return set->upper | index;
}

static inline uint32_t path_index(const struct path_set *set, uint32_t ev)
{
	uint32_t mask = set->shape->index_mask;
	uint32_t index = ev & mask;
	bool is_ours = (ev & ~mask) == set->upper &&
		index < set->shape->planes * set->shape->per_plane;
	return is_ours ? index : PATH_NO_EV;
}
