// SPDX-License-Identifier: Apache-2.0
// One repair packet by packet: what passed of its QP from before it was asked for until it came.
#pragma once

#include "pcap.h"

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
