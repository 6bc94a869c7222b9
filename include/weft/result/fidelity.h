// SPDX-License-Identifier: Apache-2.0
// What may be concluded from a run by a clock, in a sentence, and what hosts saw of each other.
#pragma once

#include <stdio.h>

#include <weft/measure/measure_seen.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FIDELITY_EVERY UINT32_MAX

struct report_fidelity {
	char conclude[320]; // empty: there was no clock
	uint32_t hosts;	    // that had frames for each other; 0: nobody noted them
	uint32_t own;	    // the host whose view is known; FIDELITY_EVERY: all are
	void (*pair)(const void *context, uint32_t host, uint32_t other, struct seen_pair *ret);
	const void *context;
};

struct json_t;
struct report_input;

// The part "fidelity" of a document, and of the table made from it; nothing without a clock and
// frames.
void fidelity_json(struct json_t *root, const struct report_input *input);
void fidelity_table(FILE *to, const struct json_t *result);

// Each way from a host to another that frames went: a list, which the caller frees, and a line for
// all of such a list. What the end that would know did not tell is null.
struct json_t *fidelity_host_pairs(const struct report_fidelity *fidelity);
void fidelity_host_pairs_line(FILE *to, const char *before, const struct json_t *ways);

#ifdef __cplusplus
}
#endif
