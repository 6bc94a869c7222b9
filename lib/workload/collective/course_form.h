// SPDX-License-Identifier: Apache-2.0
// What the forms of courses share.
#pragma once

#include <weft/workload/course.h>

#include "coll_put.h"

// Told what may be sent.
struct course_listener {
	course_send_fn *send;
	void *context;
};

struct course_form {
	// Draws what the form counts, and fills messages, bytes, pieces, numbers and ready_max.
	// -ENOMEM; whatever it returns when there are too many numbers, these are refused.
	int (*create)(struct course *course, struct arena *arena);
	void (*begin)(struct course *course, uint32_t rank, const struct course_listener *to);
	void (*arrived)(struct course *course, uint32_t rank, uint32_t number,
			const struct course_listener *to);
	struct course_message (*message)(const struct course *course, uint32_t from, uint32_t to,
					 uint32_t number);
	uint32_t (*peers)(const struct course *course, uint32_t rank, uint32_t *ret);
};

// How far a rank is in the steps of a channel.
struct course_pace {
	uint32_t step;	   // whose messages have all come but for this one's
	uint32_t expected; // messages of that step
};

struct course {
	struct coll_config config;
	const struct course_form *form;
	uint32_t pieces;  // of the stretch that is cut into most of them
	uint64_t numbers; // that messages are told apart by
	uint64_t messages, bytes, ready_max;
	// trees: of each tree (channel, then first or second) the ranks
	uint32_t trees;
	uint32_t *parent;	   // [trees][ranks]; OP_NONE: on top
	uint32_t *child, *sibling; // [trees][ranks] the first one below; the next one beside
	uint8_t *summed;	   // [ranks][trees][pieces] children whose message is there
	// steps of each channel
	uint32_t steps;
	uint32_t step_numbers;	   // that messages of one step are told apart by
	struct course_pace *paces; // [ranks][channels]
	uint32_t *arrived;	   // [ranks][channels][steps] messages
};

extern const struct course_form course_ring, course_tree, course_steps, course_direct;

static inline void course_tell(const struct course_listener *to,
			       const struct course_message *message)
{
	to->send(to->context, message);
}

// Adds what `times` copies of a stretch come to.
void course_add(struct course *course, struct coll_part part, uint64_t times);

// Pieces as a number of them, at most OP_NONE.
uint32_t course_capped(uint64_t pieces);

// The most pieces of any block of any channel.
uint32_t course_block_pieces(const struct course *course);

// What follows a message of everyone to everyone.
void course_direct_sent(struct course *course, uint32_t rank, uint32_t to, uint32_t number,
			const struct course_listener *listener);
