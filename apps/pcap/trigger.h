// SPDX-License-Identifier: Apache-2.0
// What a capture waits for.
#pragma once

#include <weft/core/refusal.h>
#include <weft/wire/wire_dissect.h>

#define TRIGGER_BURST_NS 1000000 // in which so many marks are a burst
#define TRIGGER_BURST_MAX 4096

struct trigger {
	uint32_t wanted;		    // bits by name
	uint32_t burst;			    // CE marks within TRIGGER_BURST_NS
	uint64_t marks;			    // seen
	int64_t mark_ns[TRIGGER_BURST_MAX]; // the last `burst` of them, as a ring
};

// Reads "nack,trim,ce". -EINVAL with the reason.
int trigger_parse(struct trigger *trigger, const char *words, struct refusal *refusal);

// Why this packet is what was waited for, or NULL.
const char *trigger_of(struct trigger *trigger, const struct wire_record *record, int64_t at_ns);
