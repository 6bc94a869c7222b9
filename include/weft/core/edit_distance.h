// SPDX-License-Identifier: Apache-2.0
// How far a misspelt word is from the one that was meant.
#pragma once

#include <stdint.h>

#define EDIT_DISTANCE_BYTES 64

// Edits (insert, delete, replace a letter, swap two neighbours) that turn one word into the other
// (Damerau 1964; no letter is edited twice); both are shorter than EDIT_DISTANCE_BYTES.
uint32_t edit_distance(const char *a, const char *b);
