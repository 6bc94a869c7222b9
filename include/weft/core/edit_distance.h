// SPDX-License-Identifier: Apache-2.0
// How far a misspelt word is from the one that was meant.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EDIT_DISTANCE_BYTES 64

// Edits (insert, delete, replace a letter, swap two neighbours) that turn one word into the other
// (Damerau 1964; no letter is edited twice); both are shorter than EDIT_DISTANCE_BYTES.
uint32_t edit_distance(const char *a, const char *b);

// Which of the words that near_word_see() was shown a misspelt one was meant to be: the first of
// least edits, which are two at most, and one in a word of less than six letters.
struct near_word {
	const char *asked;		 // not owned; lives as long as this
	char found[EDIT_DISTANCE_BYTES]; // "" as long as none was meant
	uint32_t least;			 // edits from `asked` to `found`
};

struct near_word near_word_of(const char *asked);

// Copies `word` where it is nearer than what was seen before.
void near_word_see(struct near_word *near_word, const char *word);

// Appends "; did you mean WORD?" to the text, as far as it fits; nothing when none was found.
// Returns whether one was.
bool near_word_append(const struct near_word *near_word, char *text, size_t bytes);
