// SPDX-License-Identifier: Apache-2.0
// What each rank of a collective waited for, for the time line: its part of the collective, the
// steps of that, the messages that came in each. Of rings with watch.messages, of collectives that
// run as programs with watch.operations.
//
// A message is drawn at the rank that it is for, from when it had been posted and the one before it
// on its channel was there, until it was there: the time that its receiver stood for it. So
// messages of a channel never overlap, whatever was under way at once; what lies between two is
// time in which the sender had nothing to send yet. What came before the rank began is a moment at
// its begin.
//
//   steps.c        spans     steps_read.c  the messages of rings and programs
#pragma once

#include <stdint.h>

#include <weft/result/report.h>

enum steps_level { STEPS_PART, STEPS_STEP, STEPS_MESSAGE, STEPS_LEVEL_COUNT };

// One message as its receiver saw it.
struct steps_message {
	uint32_t track; // a channel of a rank
	uint32_t bucket, step;
	uint32_t from, number; // the rank that sent it; its slice, or its operation
	uint32_t bytes;
	ps_t posted_ps, came_ps; // PS_NEVER: not yet
	ps_t begin_ps;		 // of the rank's part
	bool is_open;		 // the part has not ended
};

struct steps_span {
	uint32_t track;
	uint32_t lane; // of the track: steps that overlap lie in different ones, with their
		       // messages
	enum steps_level level;
	uint32_t bucket, step;
	uint32_t count;	       // of a step: its messages
	uint32_t from, number; // of a message, and what it is
	uint32_t bytes;
	ps_t posted_ps;
	ps_t from_ps, until_ps;
};

struct steps {
	const struct world *world;
	struct steps_message *messages; // [message_count], by track after reading
	struct steps_span *spans;	// [count]
	uint32_t message_count, message_max, count, span_max;
	uint32_t channels; // tracks of a rank
	uint64_t unfinished[STEPS_LEVEL_COUNT];
	uint64_t left_out[STEPS_LEVEL_COUNT]; // no room, or never kept
	const char *reason;		      // why there is none; NULL: there are
};

// `max` messages at most. The caller gives back what it holds by steps_free(), also after an error.
// -ENOMEM.
int steps_of(struct steps *ret, const struct world *world, uint32_t max);
void steps_free(struct steps *steps);

// "rank 3 (NIC 5) channel 0"; "all_reduce", "step 4", "from rank 2".
void steps_track_name(char *ret, size_t bytes, const struct steps *steps, uint32_t track);
void steps_span_name(char *ret, size_t bytes, const struct steps *steps,
		     const struct steps_span *span);

// ---------------------------------------------------------------- steps_read.c

// What the world kept: messages, and parts as spans of their own. -ENOMEM.
int steps_read(struct steps *steps);
