// SPDX-License-Identifier: Apache-2.0
// The entropy values (EVs) of one QP: which one the next packet takes, and what is known about the
// health of each. Not in here: where values come from (profile.h), how bad EVs are probed
// (probe.h), what a packet does at a switch with its EV. Facts: docs/protocol.md, section on
// multipath.
//
// EV number i belongs to plane i mod planes, so each plane has the same number of them. All of them
// are the universe; as many as the rotation has places are active, the others are backups. An EV
// that is held bad gives its place to a backup of its own plane, so that planes stay alike.
// The value on the packet comes from a profile, or is a random upper part per QP and the number
// below it; a value of 16 bits is at least EV_PORT_FIRST.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/rng.h>
#include <weft/core/time.h>
#include <weft/transport/transport.h>

#include "endpoint/profile.h"

// The shape of the path sets of an endpoint: how many EVs there are and what their values look
// like. The state of each is in path.h.

#define PATH_UNIT_SHIFT 20 // times are kept in units of 2^20 ps: 32 bits last 75 minutes

// What all QPs of an endpoint have in common.
struct path_shape {
	uint32_t planes;
	uint32_t per_plane;  // places of a plane's rotation, a power of two
	uint32_t universe;   // EVs of all planes, backups included
	uint32_t index_mask; // bits of an EV that are its number
	uint32_t drawn_mask; // bits that each QP draws
	uint32_t fixed;	     // bits that every EV has set
	uint32_t min_active; // places that are never given up
	enum path_policy policy;
	uint32_t first_window; // packets of a QP's first window; at most one per place
	ps_t flowlet_gap_ps;   // PATH_FLOWLET
	ps_t skip_ps;	       // PATH_MRC: a SKIP EV loses its turns for so long; 0: see next
	bool has_rows;	       // the more turns the more often it was marked; else one
	ps_t retry_ps;	       // an ASSUMED_BAD EV is probed again after this
	const struct profile *profile; // where values come from; NULL: each QP draws
	bool has_load;		       // planes have shares of the window: load.h
	uint32_t ports_down;	       // bits of own ports that are down
};

// The shape that a valid configuration asks for.
struct path_shape path_shape_of(const struct transport_config *config);

// A plane is held dead after so many losses with no arrival between them. A NIC knows when its own
// port is down and hears of its peer's; without such messages the losses have to say it, and one
// EV at a time would take a timer each.
#define PATH_PLANE_LOSSES 6

#define PATH_NO_EV PROFILE_NO_EV // "any EV will do": nothing to avoid

// What is known of an EV. The last two are blocked: no data take them while others are left.
enum path_state { PATH_GOOD, PATH_SKIP, PATH_ASSUMED_BAD, PATH_DENIED };

// What feedback changed.
enum path_change {
	PATH_SAME,
	PATH_CHANGED,
	PATH_REPLACED, // a backup has taken its place
};

// One plane's rotation: a round visits each EV number of the plane once, in the order of the
// position with some bits flipped; each round flips other bits.
struct path_plane {
	uint16_t at, mask;	// position in this round, and bits flipped in it
	uint16_t bad, unusable; // places whose EV is blocked, and is not GOOD
	uint16_t rows;		// EVs with a row of marks
	uint16_t round, marked, marked_mean, rtt_mean; // history.h: its number, marks, means
	uint16_t heard;	     // while some are lost or blocked: the EV that was heard of last, and
			     // is not slow on an only plane of which most is alive
	uint32_t probe_at;   // closed: when the next probe may leave, in units of 2^20 ps
	uint32_t renewed_at; // when its port came back last; never: before all times
	uint8_t lost, late;  // packets lost in a row, since one arrived; answers that were late
	bool is_closed;	     // so many that the plane itself is held dead
	bool is_moved;	     // places have changed hands: the table says who has them
	bool is_denied;	     // no EV of it may be used
};

// What path_pick() gives.
struct path_choice {
	uint32_t index; // EV number
	bool is_trial;	// nothing better is left: the answer to this packet decides
};

struct path_set {
	const struct path_shape *shape;
	struct balance *balance; // of the policies in balance.h; else NULL
	struct rng rng;		 // rounds of data packets
	struct rng control_rng;	 // EVs of control packets: they must not move the dice of the data
	uint32_t upper;		 // upper part of each EV: drawn, and what is fixed
	union {
		uint32_t single; // PATH_SINGLE: the EV number
		uint32_t now;	 // timed skips: as path_at() has said, in units of 2^20 ps
	};
	uint32_t bad;	    // places whose EV is blocked, all planes
	uint32_t held;	    // EVs in ASSUMED_BAD: probes are due
	uint32_t closed;    // planes held dead: the same
	uint32_t denied;    // EVs in DENIED
	uint32_t lost;	    // sum of `lost` of all planes
	uint32_t peer_down; // bits of the peer's ports that are down
	uint32_t *retry_at; // [universe] when to probe it; of a SKIP EV when skip_ps end; wraps
	uint16_t *ev_slots; // [active] EV of each place, NULL without backups
	uint8_t *states;    // [universe] see path_state()
	uint8_t *history;   // [universe] see history.h
	struct load *load;  // what planes hold of the window, NULL: what lines take
	struct path_plane planes[PLANES_MAX];
	uint32_t min_active; // places that are never given up
};

// Bytes that the EVs of a QP take: six each, and two per place of the rotation with backups.
uint64_t path_bytes(const struct path_shape *shape);

// Starts a set in `memory` of path_bytes(), zeroed.
void path_init(struct path_set *set, const struct path_shape *shape, void *memory, struct rng rng);

// Whether the plane's port is down at an end, as far as is known.
static inline bool path_is_down(const struct path_set *set, uint32_t plane)
{
	return (set->shape->ports_down | set->peer_down) >> plane & 1;
}

// Whether no port that is up here leads to a plane that is not denied: nothing can leave.
bool path_is_cut(const struct path_set *set);

// Whether `plane` is down, held dead, or every EV of it blocked.
static inline bool path_is_shut(const struct path_set *set, uint32_t plane)
{
	return set->planes[plane].is_closed || set->planes[plane].bad == set->shape->per_plane ||
		path_is_down(set, plane);
}

// Whether packets may go elsewhere, or must, when a plane is shut.
bool path_has_other(const struct path_set *set, uint32_t plane);

// Whether nothing should be sent on `plane`. Never true of all planes: somewhere packets must go.
static inline bool path_is_closed(const struct path_set *set, uint32_t plane)
{
	return __builtin_expect(path_is_shut(set, plane), 0) && path_has_other(set, plane);
}

// The time of the turns and of the feedback that follow, which skips that take a time go by.
static inline void path_at(struct path_set *set, ps_t now)
{
	if (set->shape->skip_ps != 0)
		set->now = (uint32_t)(now >> PATH_UNIT_SHIFT);
}

// The EV that the next packet on `plane` takes, another one than `avoid` where there is one. There
// always is one: when nothing is usable it is one that is held bad, as a trial.
struct path_choice path_pick(struct path_set *set, uint32_t plane, uint32_t avoid);

// The EV heard of last, while others of the plane are blocked: what it carries comes through.
uint32_t path_last_heard(const struct path_set *set, uint32_t plane);
struct path_choice path_pick_heard(struct path_set *set, uint32_t plane, uint32_t avoid);

// The queue of this EV is full: no repair is to take it where it is heard of last.
void path_forget(struct path_set *set, uint32_t index);

// The port of `plane` is back at the end where it was missing: what was lost there meanwhile says
// nothing about its EVs, nor does what left before and is held lost later.
void path_renew(struct path_set *set, uint32_t plane, ps_t now);

static inline bool path_is_of_before(const struct path_set *set, uint32_t plane, ps_t sent_at,
				     ps_t now)
{
	uint32_t now_units = (uint32_t)(now >> PATH_UNIT_SHIFT);
	uint32_t age_units = now_units - (uint32_t)(sent_at >> PATH_UNIT_SHIFT);
	return now_units - set->planes[plane].renewed_at <= age_units;
}

// The losses in a row on a plane end; a closed one opens. With an EV: those on it, too.
static inline void path_plane_alive(struct path_set *set, uint32_t plane)
{
	set->lost -= set->planes[plane].lost;
	set->planes[plane].lost = 0;
	set->closed -= set->planes[plane].is_closed;
	set->planes[plane].is_closed = false;
}
void path_alive(struct path_set *set, uint32_t index);

// Feedback about an EV number: a packet that took it arrived, was marked or trimmed on the way
// (skip one turn, or skip_ps from now; true: it did not yet), was lost or is to be skipped for good
// (assumed bad). An arrival mends a bad EV only where its plane is shut. Else path_probed() does.
enum path_change path_arrived(struct path_set *set, uint32_t index);
bool path_skip(struct path_set *set, uint32_t index);
enum path_change path_retire(struct path_set *set, uint32_t index, ps_t now);

// A packet that took this EV is known to have arrived, though no feedback came back for it alone:
// its plane is alive. The EV keeps its state.
static inline void path_heard(struct path_set *set, uint32_t index)
{
	if ((set->lost | set->bad) > 0)
		path_alive(set, index);
}

// The packet over this EV was lost: its plane, too, may be dead.
enum path_change path_lose(struct path_set *set, uint32_t index, ps_t now);

// A probe over this EV came back. After `successes` in a row it is GOOD, or SKIP if that was
// marked.
enum path_change path_probed(struct path_set *set, uint32_t index, bool is_marked,
			     uint32_t successes);

// A probe over it did not come back: the row of successes ends.
void path_unanswered(struct path_set *set, uint32_t index);

// The next EV from number `*from` on, in a circle, that is to be probed now, or PATH_NO_EV; counts
// on a retry time until it is again. `*from` goes on from call to call, so that each has its turn.
uint32_t path_due(struct path_set *set, uint32_t *from, ps_t now);

// When path_due() finds the next, or PS_NEVER.
ps_t path_due_at(const struct path_set *set, ps_t now);

// What an operator says. path_deny() gives false for the last that is not denied.
bool path_deny(struct path_set *set, uint32_t index);
void path_allow(struct path_set *set, uint32_t index);

static inline enum path_state path_state(const struct path_set *set, uint32_t index)
{
	return (enum path_state)(set->states[index] & 3);
}

// The value on the packet, and back: PATH_NO_EV for an EV of another QP.
static inline uint32_t path_value(const struct path_set *set, uint32_t index)
{
	const struct profile *profile = set->shape->profile;
	return profile ? profile->values[index] : set->upper | index;
}

static inline uint32_t path_index(const struct path_set *set, uint32_t ev)
{
	uint32_t mask = set->shape->index_mask;
	uint32_t index = ev & mask;
	if (set->shape->profile)
		return profile_find(set->shape->profile, ev);
	bool is_ours = (ev & ~mask) == set->upper && index < set->shape->universe;
	return is_ours ? index : PATH_NO_EV;
}
