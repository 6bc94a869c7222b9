// SPDX-License-Identifier: Apache-2.0
// The keys that a scenario may have: one table from which they are read, listed and explained.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scenario;

// One key that a scenario may have, for docs/scenario.md and `weft sim --list-keys`.
struct scenario_key {
	const char *path;  // "fabric.planes"
	const char *unit;  // "count", "rate", "bytes", "time", "word", "text", "flag", "share",
			   // "ratio", "list"
	const char *value; // default, as one would write it; "required" when there is none
	const char *text;  // one line
	// How the reader takes it; see scenario_keys.c.
	uint32_t offset, size; // of the field in struct scenario, or in the list's element
	uint64_t min, max;     // of a number, in ps, bytes, bits per second or parts per 10^9
	const char *zero;      // the word that stands for 0 ("auto"), or NULL
	const char *const
		*words; // of a word or flag, in the order of their values, NULL at the end
	uint8_t use;	// when the key has an effect (enum scenario_use)
};

// All keys, ended by one whose path is NULL.
const struct scenario_key *scenario_keys(void);

// Whether the key of that path has an effect in a scenario that was read.
bool scenario_key_holds(const struct scenario *scenario, const char *path);

// The key of that path, or second name; NULL with a reason when there is none, or when it belongs
// to an element of a list.
const struct scenario_key *scenario_key_of(const char *path, struct refusal *refusal);

// Appends "; did you mean NAME?" to the text, when there is a variant of nearly this name.
void scenario_variant_meant(const struct scenario *scenario, const char *name, char *text,
			    size_t bytes);

// Reads `text` as a value of `key`, which holds no text and no list: ps, bytes, bits per second,
// parts per 10^9, a count, or the index of a word. -EINVAL with the reason.
int scenario_value_of(uint64_t *ret, const struct scenario_key *key, const char *text,
		      struct refusal *refusal);

// Another name that a key may be given by.
struct scenario_name {
	const char *name, *path;  // "cc.max_cwnd", of key "cc.max_window"
	const char *const *words; // where they are others than the key's; else NULL
};

// All of them, ended by one whose name is NULL.
const struct scenario_name *scenario_names(void);

#ifdef __cplusplus
}
#endif
