// SPDX-License-Identifier: Apache-2.0
// Entropy values (EVs) as an operator sees them: where they come from, what is known of each, and
// which must not be used. What endpoints do with them: docs/protocol.md, "Multipath".
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Values of 16 bits are UDP source ports and stay in the range of IANA's ephemeral ones, as
// RoCEv2's do, where no service listens: so many at most, from that one on, which leave so many
// bits.
#define EVS_OF_PORT_MAX 16384u
#define EV_PORT_FIRST (UINT32_C(0x10000) - EVS_OF_PORT_MAX)
#define EV_PORT_BITS 14

// What the ways to choose EVs can tell apart: turns of a plane are counted in 16 bits, and a place
// of the ring of recycled EVs keeps one of these for itself.
#define EVS_OF_PLANE_MAX 32768u
#define EVS_OF_REPS_MAX 32768u

#define EV_FIELDS_MAX 8u
#define EV_VALUES_MAX 4096u // of an explicit profile
#define PROBE_SUCCESSES_MAX 15u

// Where the entropy values (EVs) of QPs come from.
enum ev_mode {
	EV_AUTO,      // each QP draws a random upper part
	EV_EXPLICIT,  // a table that all QPs share
	EV_GENERATED, // drawn per endpoint inside the ranges of fields, which all its QPs share
};

// A field of generated EVs, packed from the highest bit on: lib/wire takes such fields apart again.
struct ev_field {
	uint32_t bits; // 1..32, of all fields at most 32, or EV_PORT_BITS
	uint32_t max;  // values 0 to this
	bool is_even;  // each as often as any other on a plane, within one; else drawn
};

// With EV_AUTO the lower bits of an EV are its number: those of the numbers of a universe.
static inline uint32_t ev_index_mask(uint32_t universe)
{
	return universe < 2 ? 0 : UINT32_MAX >> __builtin_clz(universe - 1);
}

// What an operator sees of an EV. A turn that it loses is not reported.
enum ev_state { EV_GOOD, EV_ASSUMED_BAD, EV_DENIED };

struct endpoint;

#ifdef __cplusplus
extern "C" {
#endif

// What an operator says of an EV by value, for all QPs that are open and, unless each draws its
// own, those that will be: never to be used, or again. -ENOENT when no QP has it, -EBUSY when it is
// the last one that is not denied (then no QP is changed), -EOPNOTSUPP without PATH_MRC.
int endpoint_ev_deny(struct endpoint *endpoint, uint32_t ev);
int endpoint_ev_allow(struct endpoint *endpoint, uint32_t ev);

// Before its traffic: a QP in RTS uses the EVs of these numbers alone, which are active at the
// start, each here once; NULL: the first `count`, 1 at least. What the others could have repaired
// is not. -ENOENT: no such QP or number; -EOPNOTSUPP without PATH_MRC or PATH_ROTATE, or with fewer
// contexts than QPs, which would forget it.
int endpoint_ev_keep(struct endpoint *endpoint, uint32_t qpn, const uint16_t *numbers,
		     uint32_t count);

// What an open QP holds of an EV. -ENOENT when it has no such EV.
int endpoint_ev_state(const struct endpoint *endpoint, uint32_t qpn, uint32_t ev,
		      enum ev_state *ret);

// The same of a path: the value where it leaves by the port of `plane` alone. With EV_ANY_PLANE
// they are the calls above: a value on several planes is denied and allowed on all, and the state
// is the best of its paths. What a value is on several planes: docs/protocol.md, "Profiles".
#define EV_ANY_PLANE UINT32_MAX
int endpoint_path_deny(struct endpoint *endpoint, uint32_t ev, uint32_t plane);
int endpoint_path_allow(struct endpoint *endpoint, uint32_t ev, uint32_t plane);
int endpoint_path_state(const struct endpoint *endpoint, uint32_t qpn, uint32_t ev, uint32_t plane,
			enum ev_state *ret);

// EV number `index` of an open QP; numbers run over all planes in turn, active ones first at the
// start. -ENOENT when there are not so many.
int endpoint_ev(const struct endpoint *endpoint, uint32_t qpn, uint32_t index, uint32_t *ret);

#ifdef __cplusplus
}
#endif
