// SPDX-License-Identifier: Apache-2.0
// Jobs of different kinds side by side on one fabric: where each sits, and one program of all of
// them.
//
//   mix_place.c  a job's NICs, as a scheduler would give them    mix.c  programs put together
//
// Each job is a program of its own (program.h), whose ranks are counted from 0. In the program of
// all, rank r is NIC r of the fabric: NICs that no job has are ranks with nothing to do.
#pragma once

#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/workload/program.h>
#include <weft/workload/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MIX_PARTS_MAX 16
#define MIX_NOBODY 0xff // owner of a NIC that no job has

// ---------------------------------------------------------------- placement

// The NICs of a fabric, and the job that each belongs to.
struct mix_room {
	uint32_t nics, nics_per_host;
	uint8_t *owner; // [nics] index of a job, or MIX_NOBODY
};

// An empty room. -ENOMEM.
int mix_room_draw(struct mix_room *ret, struct arena *arena, uint32_t nics, uint32_t nics_per_host,
		  struct refusal *refusal);

// Where a job wants its ranks. Hosts are racks, or servers: `nics_per_host` NICs each.
struct mix_placement {
	enum placement kind;
	uint32_t ranks;
	uint32_t per_host;   // NICs that it takes of each host; 0: all of it, or all its ranks
	uint32_t first_host; // packed, spread: the first host that it may have
	uint32_t stride;     // spread: every so many hosts, from the first that has room
	uint64_t seed;	     // random
	const char *nics;    // list: NICs in the order of the ranks, "0-3 8 12-15"
};

// Gives job `part` its NICs: ret_nics[placement->ranks], rank by rank, the ranks of a host one
// after the other. Packed: the first hosts with room; spread: every `stride`-th; random: any with
// room, by dice named by seed and part, in the order of the fabric. Hosts without enough free NICs
// are passed over. -EINVAL with the reason: no room, a NIC that is another's, ranks that do not
// fill hosts evenly.
int mix_place(struct mix_room *room, uint8_t part, const struct mix_placement *placement,
	      uint32_t *ret_nics, struct refusal *refusal);

// NICs of each host that a job placed so has: per_host, or what follows; 0 for a list.
uint32_t mix_per_host(const struct mix_placement *placement, uint32_t nics_per_host);

// ---------------------------------------------------------------- one program of all

struct mix_part {
	const struct program *program; // sealed
	const uint32_t *nics;	       // [program->ranks]
	ps_t start_ps;		       // nothing of it begins before
	uint32_t repeats;	       // so many times; a rank begins anew when it is through
};

// The parts as one sealed program of `nics` ranks. A rank begins a part, and each time anew, with a
// computation: of `start_ps`, or of no time. Rings of parts (OP_COLLECTIVE) become groups of one
// job, which `ring` says how to run. -EINVAL with a reason: more operations than a program can
// have, a ring whose ranks lie unevenly over hosts; -ENOMEM.
int mix_program(struct program **ret, struct arena *arena, const struct mix_part *parts,
		uint32_t count, uint32_t nics, uint32_t nics_per_host,
		const struct ring_config *ring, struct refusal *refusal);

// A job's rings as a sealed program of `ranks` ranks, rank r at GPU r: each rank's buckets in their
// order. The job outlives it. -EINVAL, -ENOMEM.
int mix_rings(struct program **ret, struct arena *arena, const struct job *job, uint32_t ranks,
	      struct refusal *refusal);

#ifdef __cplusplus
}
#endif
