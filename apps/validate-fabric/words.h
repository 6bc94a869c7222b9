// SPDX-License-Identifier: Apache-2.0
// Pieces that cases are written from.
#pragma once

#include "book.h"

// A check of a case's own profile.
void words_check(FILE *to, const char *name, const char *metric, const char *bound,
		 const char *source);

// One that is shown, and judges nothing.
void words_indicative(FILE *to, const char *name, const char *metric, const char *bound,
		      const char *source);

// Goodput per receiving NIC is watched, and once senders have found their rate, until four fifths
// of the span, it must be at least `share` of what the lines carry.
void words_steady(FILE *to, const struct facts *facts, ps_t span_ps, double share);

// A flow from each of the NICs 0 to `count` - 1 to the one `ahead` further.
void words_flows(FILE *to, uint32_t count, uint32_t ahead, uint64_t bytes);

// Messages of a NIC to another, one every `period_ps`.
struct rounds {
	uint32_t count;
	ps_t period_ps;
	uint64_t bytes; // of each
};

// A flow for each round.
void words_rounds(FILE *to, uint32_t from, uint32_t nic, const struct rounds *rounds);
