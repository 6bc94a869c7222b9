// SPDX-License-Identifier: Apache-2.0
// Pieces that cases are written from.
#pragma once

#include "acceptance.h"

// A check of a case's own profile.
void words_check(FILE *to, const char *name, const char *metric, const char *bound,
		 const char *source);

// One that is shown, and judges nothing.
void words_indicative(FILE *to, const char *name, const char *metric, const char *bound,
		      const char *source);

// Goodput per receiving NIC is watched, and once senders have found their rate, until four fifths
// of the span, it must be at least `share` of what the lines carry.
void words_steady(FILE *to, const struct fabric_facts *fabric_facts, ps_t span_ps, double share);

// One of the two: each pair at its share, or all of them through.
void words_carried(FILE *to, const struct fabric_facts *fabric_facts, ps_t span_ps,
		   const struct carried *carried);

// A message of each pair, all at once.
void words_pairs(struct case_text *to, const struct fabric_facts *fabric_facts,
		 const struct pair *pairs, uint32_t count, uint64_t bytes);

// Messages of a NIC to another, one every `period_ps`.
struct rounds {
	uint32_t count;
	ps_t period_ps;
	uint64_t bytes; // of each
};

// A message of each pair in each round.
void words_rounds(struct case_text *to, const struct fabric_facts *fabric_facts,
		  const struct pair *pairs, uint32_t count, const struct rounds *rounds);

// Says in to->reason why a case is not asked, and returns that.
const char *words_reason(struct case_text *to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

// What pairs have, with the reason in to->reason where no way leads from one to the other.
const char *words_carry(struct carried *ret, struct case_text *to,
			const struct fabric_facts *fabric_facts, const struct pair *pairs,
			uint32_t count, double weight);
