// SPDX-License-Identifier: Apache-2.0
// Clocks of the hosts of a run, against that of host 0. See meeting.h.

#include <weft/wall/meeting.h>

#include "word.h"

#define ROUNDS 32

// When host 0 heard the question, and when it answered.
struct answer {
	int64_t heard_ns, said_ns;
};

static int answer_one(struct meeting *meeting, uint32_t host, pace_clock_fn *clock, void *context,
		      struct refusal *refusal)
{
	int rc = 0;
	uint8_t question = 0;
	for (int i = 0; rc == 0 && i < ROUNDS; i++) {
		struct answer answer;
		rc = meeting_take(meeting, host, &question, sizeof(question), refusal);
		answer.heard_ns = clock(context);
		answer.said_ns = clock(context);
		if (rc == 0)
			rc = meeting_give(meeting, host, &answer, sizeof(answer), refusal);
	}
	return rc;
}

static int ask(struct meeting *meeting, pace_clock_fn *clock, void *context,
	       struct meeting_clock *ret, struct refusal *refusal)
{
	int64_t shortest_ns = INT64_MAX;
	for (int i = 0; i < ROUNDS; i++) {
		struct answer answer;
		uint8_t question = 0;
		int64_t said_ns = clock(context);
		int rc = meeting_give(meeting, 0, &question, sizeof(question), refusal);
		if (rc == 0)
			rc = meeting_take(meeting, 0, &answer, sizeof(answer), refusal);
		if (rc < 0)
			return rc;
		int64_t heard_ns = clock(context);
		int64_t trip_ns = heard_ns - said_ns - (answer.said_ns - answer.heard_ns);
		if (trip_ns >= shortest_ns)
			continue;
		shortest_ns = trip_ns;
		ret->at_ns = said_ns + (heard_ns - said_ns) / 2;
		ret->offset_ns = (answer.heard_ns - said_ns + answer.said_ns - heard_ns) / 2;
		ret->error_ns = trip_ns / 2 + 1;
	}
	return 0;
}

int meeting_clock(struct meeting *meeting, pace_clock_fn *clock, void *context,
		  struct meeting_clock *ret, struct refusal *refusal)
{
	int rc = 0;
	if (meeting->options.index != 0)
		return ask(meeting, clock, context, ret, refusal);
	for (uint32_t i = 1; rc == 0 && i < meeting->options.count; i++)
		rc = answer_one(meeting, i, clock, context, refusal);
	*ret = (struct meeting_clock){.at_ns = clock(context)};
	return rc;
}

int meeting_moment(struct meeting *meeting, int64_t now_ns, int64_t lead_ns,
		   const struct meeting_clock *read, int64_t *ret_ns, struct refusal *refusal)
{
	int64_t moment_ns = now_ns + lead_ns;
	int rc = 0;
	if (meeting->options.index != 0)
		rc = meeting_take(meeting, 0, &moment_ns, sizeof(moment_ns), refusal);
	else
		for (uint32_t i = 1; rc == 0 && i < meeting->options.count; i++)
			rc = meeting_give(meeting, i, &moment_ns, sizeof(moment_ns), refusal);
	*ret_ns = moment_ns - read->offset_ns; // host 0's own is 0
	return rc;
}
