// SPDX-License-Identifier: Apache-2.0
// The word that a misspelt one was meant to be.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEAR_WORD_BYTES 64

// Edits (insert, delete, replace a letter, swap two neighbours) that turn one word into the other
// (Damerau 1964; no letter is edited twice); another case is no edit. Both are shorter than
// NEAR_WORD_BYTES.
uint32_t near_word_edits(const char *a, const char *b);

// The nearest of the words that near_word_see() has seen: the first of those with the fewest edits,
// which are at most 1 for a word of 3 to 5 letters and 2 for a longer one.
struct near_word {
	const char *asked;	     // not owned; lives as long as this
	char found[NEAR_WORD_BYTES]; // "" as long as none is near
	uint32_t least;		     // edits from `asked` to `found`
};

struct near_word near_word_of(const char *asked);

// Copies `word` if it is nearer than all before it.
void near_word_see(struct near_word *near_word, const char *word);

// Appends "; did you mean WORD?" to the text of `bytes` bytes, as far as it fits, if a word was
// found. Returns whether one was.
bool near_word_append(const struct near_word *near_word, char *text, size_t bytes);
