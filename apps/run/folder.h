// SPDX-License-Identifier: Apache-2.0
// Folders: where a result goes, and where scenarios come from.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/refusal.h>

// Makes the folder `path` with its parents; `ret_made` says how many of them were not there. One
// that holds other files, but none called `mark` as earlier results of this kind have, is refused:
// -ENOTEMPTY.
int folder_make(const char *path, const char *mark, uint32_t *ret_made, struct refusal *refusal);

// Takes back what folder_make() made.
void folder_unmake(const char *path, uint32_t made);

// Whether `file` is where a result in the folder `path` has, or may have, a file of its own.
bool folder_has_result_at(const char *path, const char *file);

// Prints each shipped scenario with the first line of its description.
void folder_list_scenarios(FILE *to);
