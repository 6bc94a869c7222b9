// SPDX-License-Identifier: Apache-2.0
// What weft pcap does with an analysis: each a file of this folder.
#pragma once

#include "pcap.h"

// The captures of a call once more, with comments on the packets that its report names.

// Whether it can be: what is read twice is no pipe. -EINVAL with the reason.
int annotate_check(struct call *call);

// Writes call->annotate; -errno with a reason.
int annotate_write(struct call *call);

// An analysis held against an acceptance profile.

// Reads the profile call->profile. -errno with a reason.
int judge_read(struct call *call);

// Prints what became of each check, or JSON. Returns the exit status; -errno with a reason.
int judge_print(FILE *to, struct call *call);

// One repair packet by packet: what passed of its QP from before it was asked for until it came.

#define RUNGS_MAX 40u

struct rung {
	uint64_t number;   // packet; 0: one that did not come, or a gap
	uint64_t left_out; // packets of this QP before it that are not shown
	int64_t at_ns;
	uint32_t psn;
	char what[32]; // "WRITE_MIDDLE"
	bool is_back;  // an answer
	bool is_nak;
	bool is_repeat; // from the packet on that begins the repeat
	bool is_lost_before, is_lost_behind;
};

struct ladder {
	const struct flow_repair *repair; // NULL: there is none to show
	const struct flow_stream *stream;
	struct rung rungs[RUNGS_MAX];
	uint32_t count;
};

// Reads the captures once more. -errno with a reason.
int ladder_make(struct ladder *ladder, struct call *call);

// An analysis as one page that needs nothing beside itself.

// Writes call->page; -errno with a reason.
int page_write(struct call *call);

// A list of the report as CSV.

// A line with the names of the fields, and one for each row of the list call->rows; of streams if
// it is NULL.
void rows_print(FILE *to, const struct call *call);

// The flows of a capture on one time line, for Perfetto.

// Writes call->trace; -errno with a reason.
int timeline_write(struct call *call);
