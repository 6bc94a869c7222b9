// SPDX-License-Identifier: Apache-2.0
// What a capture waits for.
#pragma once

#include <weft/core/refusal.h>
#include <weft/wire/wire_dissect.h>

#define TRIGGER_BURST_NS 1000000 // in which so many marks are a burst
#define TRIGGER_BURST_MAX 4096

#define TRIGGER_QPS 4096 // powers of 2: what comes when they are full is counted, not watched
#define TRIGGER_EVS 131072

// One way of a QP.
struct trigger_qp {
	uint64_t name;	       // 0: free
	uint32_t evs, packets; // that it used; since it used the last new one
};

struct trigger {
	struct trigger_qp qps[TRIGGER_QPS];
	uint64_t evs[TRIGGER_EVS];	    // names of QP and EV; 0: free
	uint32_t wanted;		    // bits by name
	uint64_t unwatched;		    // packets whose QP or EV found no place
	uint32_t burst;			    // CE marks within TRIGGER_BURST_NS
	uint64_t marks;			    // seen
	int64_t mark_ns[TRIGGER_BURST_MAX]; // the last `burst` of them, as a ring
};

// Reads "nack,trim,ce,ev". -EINVAL with the reason.
int trigger_parse(struct trigger *trigger, const char *words, struct refusal *refusal);

// Why this packet is what was waited for, or NULL.
const char *trigger_of(struct trigger *trigger, const struct wire_record *record, int64_t at_ns);
