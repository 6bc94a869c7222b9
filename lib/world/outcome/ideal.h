// SPDX-License-Identifier: Apache-2.0
// What the files of ideal*.c share: lines with their loads.
#pragma once

#include <weft/world/world_ideal.h>

// T0s, pods; the rows and halves of three dimensions.
#define IDEAL_CUTS_MAX 8u

// What must go over a line, or over several at once.
struct ideal_load {
	uint64_t bytes, packets; // on the wire
	ps_t head_ps;		 // nothing can be sent before; PS_NEVER: there is nothing
	ps_t tail_ps;		 // what is sent last is not there before
};

// Parts of a fabric: NICs and switches that lie together, and the links that leave each.
struct ideal_cut {
	uint32_t parts;
	uint32_t *part_of;	     // [nics]
	uint64_t *rate_bps;	     // [parts] of all links across the cut, in one direction
	struct ideal_load *out, *in; // [parts]
};

struct ideal {
	const struct scenario *scenario;
	const struct topology *topology;
	uint64_t *nic_rate_bps;		// [nics]
	struct ideal_load *out, *in;	// [nics]
	struct ideal_load *give, *take; // [nics] the scale-up lines of each GPU
	uint64_t rate_max_bps;
	ps_t up_ps, trunk_ps, down_ps; // the shortest delay from a NIC, of a trunk, to a NIC
	uint8_t *links;	   // [switches of a plane][same] of a graph, 0: not asked yet; or NULL
	uint32_t switches; // of a plane
	uint32_t cut_count;
	struct ideal_cut cuts[IDEAL_CUTS_MAX];
	ps_t end_ps; // of the longest chain of messages
	uint64_t packets;
};

// Adds a message to a load.
void ideal_load_add(struct ideal_load *load, uint64_t bytes, uint64_t packets, ps_t head_ps,
		    ps_t tail_ps);

// Packets of one message of so many bytes.
uint64_t ideal_packets(const struct ideal *ideal, uint64_t bytes);

// From the first bit of an acknowledgement at `from` to its last at `to`.
ps_t ideal_answer_ps(struct ideal *ideal, uint32_t from, uint32_t to);

// Finds the cuts of the topology. -ENOMEM.
int ideal_find_cuts(struct ideal *ideal, struct arena *arena);
