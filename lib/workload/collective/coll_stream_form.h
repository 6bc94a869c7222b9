// SPDX-License-Identifier: Apache-2.0
// What the forms of streams of collectives share.
#pragma once

#include <weft/workload/coll_stream.h>

#include "coll_put.h"

// Told what may be sent.
struct coll_stream_listener {
	coll_stream_send_fn *send;
	void *context;
};

struct coll_stream_form {
	// Draws what the form counts, and fills messages, bytes, pieces, numbers and ready_max.
	// -ENOMEM; whatever it returns when there are too many numbers, these are refused.
	int (*create)(struct coll_stream *coll_stream, struct arena *arena);
	void (*begin)(struct coll_stream *coll_stream, uint32_t rank,
		      const struct coll_stream_listener *to);
	void (*arrived)(struct coll_stream *coll_stream, uint32_t rank, uint32_t number,
			const struct coll_stream_listener *to);
	struct coll_stream_message (*message)(const struct coll_stream *coll_stream, uint32_t from,
					      uint32_t to, uint32_t number);
	uint32_t (*peers)(const struct coll_stream *coll_stream, uint32_t rank, uint32_t *ret);
};

// How far a rank is in the steps of a channel.
struct coll_stream_pace {
	uint32_t step;	   // whose messages have all come but for this one's
	uint32_t expected; // messages of that step
};

struct coll_stream {
	struct coll_config config;
	const struct coll_stream_form *form;
	uint32_t pieces;  // of the stretch that is cut into most of them
	uint64_t numbers; // that identify messages
	uint64_t messages, bytes, ready_max;
	// trees: of each tree (channel, then first or second) the ranks
	uint32_t trees;
	uint32_t *parent;	   // [trees][ranks]; OP_NONE: on top
	uint32_t *child, *sibling; // [trees][ranks] the first one below; the next one beside
	uint8_t *summed;	   // [ranks][trees][pieces] children whose message is there
	// steps of each channel
	uint32_t steps;
	uint32_t step_numbers;		// that identify messages of one step
	struct coll_stream_pace *paces; // [ranks][channels]
	uint32_t *arrived;		// [ranks][channels][steps] messages
};

extern const struct coll_stream_form coll_stream_ring, coll_stream_tree, coll_stream_steps,
	coll_stream_direct;

static inline void coll_stream_tell(const struct coll_stream_listener *to,
				    const struct coll_stream_message *message)
{
	to->send(to->context, message);
}

// Adds what `times` copies of a stretch come to.
void coll_stream_add(struct coll_stream *coll_stream, struct coll_part part, uint64_t times);

// Pieces as a number of them, at most OP_NONE.
uint32_t coll_stream_capped(uint64_t pieces);

// The most pieces of any block of any channel.
uint32_t coll_stream_block_pieces(const struct coll_stream *coll_stream);

// What follows a message of everyone to everyone.
void coll_stream_direct_sent(struct coll_stream *coll_stream, uint32_t rank, uint32_t to,
			     uint32_t number, const struct coll_stream_listener *listener);
