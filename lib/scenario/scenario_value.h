// SPDX-License-Identifier: Apache-2.0
// One value of a scenario: text to number, word, flag or text. Units are mandatory and exact; all
// arithmetic is in integers. Knows nothing of YAML or of where the value stood.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/scenario/scenario.h>
#include <weft/scenario/scenario_key.h>

// A value as it was written.
struct scalar {
	const char *text; // need not end with NUL
	size_t length;
	bool is_plain; // not in quotes
};

#define SCALAR_QUOTE_BYTES 64

// The value's text fit for a message: cut to a line, without control characters.
void scalar_quote(char ret[SCALAR_QUOTE_BYTES], const struct scalar *scalar);

// Reads a value of `key`'s unit (not "text", not "list") into `ret`: ps, bytes, bits per second,
// parts per 10^9, a count, or the index of a word. -EINVAL with the reason, without a place.
int value_parse(uint64_t *ret, const struct scenario_key *key, const struct scalar *scalar,
		struct refusal *refusal);

// Reads a value of `key` into the field that it names in `base`.
int value_store(void *base, const struct scenario_key *key, const struct scalar *scalar,
		struct refusal *refusal);
