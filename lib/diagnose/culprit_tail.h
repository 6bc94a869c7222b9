// SPDX-License-Identifier: Apache-2.0
// How much of the tail a culprit explains (watch.delays): of the eighth of all pairs of NICs that
// has the slowest messages, 16 at most, those that begin or end at it; of a plane, which has a part
// of every message, its share of the slowest hundredth of all packets, one way; and so of a trunk
// and of a switch above the first tier, of packets that were late (tail.h). And of the worst
// steps of collectives: those that begin or end at it.
#pragma once

#include <jansson.h>

#include <weft/world/world.h>
#include <weft/world/world_delays.h>

#include "culprit.h"

// The slowest hundredth of all steps whose times were kept, and between which NICs they were: what
// a culprit's share of them is taken of. A step is what one rank waits for at a time: of a ring
// (watch.messages) the slices of one ring step on one channel, of a program (watch.operations) one
// message.
//
// A step's time is its own: none of it was spent waiting for other steps. Of a ring it is how long
// the receiver stood for its slices, each from when it had been posted and the one before it was
// there. Of a program it is from when the last message that its sender waited for was there, or had
// been sent, until it is there: what the sender computed in between counts, as a straggler is late
// with that. In a ring its first step of a collective has what its sender began later than planned.

struct worst_step {
	ps_t took_ps;
	uint32_t from_nic, to_nic;
};

struct worst_steps {
	const char *reason;	 // why there are none; NULL: there are
	struct worst_step *list; // [count], the slowest first
	uint32_t count, count_max;
	uint32_t worst; // of them: a hundredth, at least one, and all that took as long as its last
	uint64_t left_out; // that came, but their times were not kept
};

// To be given back by worst_steps_free().
void worst_steps_find(struct worst_steps *ret, const struct world *world);
void worst_steps_free(struct worst_steps *steps);

// Shares of the listed pairs, and of all that talked, or of packets; or why there are none.
struct culprit_tail {
	const char *reason; // NULL: the shares hold
	bool is_packets;    // else pairs
	uint64_t at,
		of; // at the culprit, of so many with the slowest messages or that are the slowest
	double all_share; // of all pairs or packets, those at the culprit
};

void culprit_tail(struct culprit_tail *ret, const struct culprit *culprit,
		  const struct world *world);

// The level of late packets from which on the slowest hundredth of all packets are, or all that
// were late, and how many these are; and how many of them went by a cable. Only with delays->tail.
const char *culprit_tail_reason(const struct world *world); // why there are none, or NULL
uint32_t culprit_tail_level(const struct world_delays *delays, uint64_t *ret_packets);
uint64_t culprit_tail_on(const struct tail *tail, uint32_t cable, uint32_t first);

// Of the worst steps, and of all of them, how many are the culprit's; or why that is not known.
struct culprit_steps {
	const char *reason;
	uint64_t worst_at, at;
};

void culprit_steps(struct culprit_steps *ret, const struct culprit *culprit,
		   const struct world *world, const struct worst_steps *steps);

// `tail_share`, `worst_steps_share`, what chance would have of a culprit, and both as people read
// them, in result.json.
void culprit_tail_json(json_t *row, const struct culprit *culprit, const struct world *world,
		       const struct worst_steps *steps);

// Where the slowest were, whoever is to blame: of each kind of place the one that has most of the
// worst steps, or of the slowest packets, beyond what it has of all; and a second one that has as
// much, as the two ends of one step. Also where nobody stands out.

#define SLOWEST_MAX 12u
#define SLOWEST_LEAST 5u      // of the slowest, before a place has most of them
#define SLOWEST_TIMES_LEAST 2 // what it has of all

struct slowest {
	struct culprit at; // place and index alone
	bool is_steps;	   // else packets
	uint64_t its, of;  // of so many slowest
	double all_share;
};

struct slowest_list {
	struct slowest list[SLOWEST_MAX]; // what explains most first
	uint32_t count;
	uint64_t packets;   // the slowest that are counted by cables
	const char *reason; // why none are; NULL: they are
};

void slowest_find(struct slowest_list *ret, const struct world *world,
		  const struct worst_steps *steps);

// The `slowest` of `culprits` in result.json.
void slowest_json(json_t *to, const struct world *world, const struct worst_steps *steps);
