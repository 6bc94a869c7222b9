// SPDX-License-Identifier: Apache-2.0
// The shape of the path sets of an endpoint: how many EVs there are and what their values look
// like. The state of each is in path.h.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/time.h>
#include <weft/transport/transport.h>

#include "endpoint/profile.h"

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
