// SPDX-License-Identifier: Apache-2.0
// Folders: where a book goes, and where scenarios come from.
#pragma once

#include <stdio.h>

#include <weft/core/refusal.h>

// Makes the folder `path` with its parents and locks it until the process ends. One that holds
// other files, but none called `mark` as earlier ones of this kind have, is refused: -ENOTEMPTY;
// one that another process writes: -EBUSY.
int folder_make(const char *path, const char *mark, struct refusal *refusal);

// A line of a --list: a name in `width` columns, then text, which goes on below itself where the
// line is full.
#define LIST_COLUMNS 80
void folder_list_line(FILE *to, int width, const char *name, const char *text);

// Prints each shipped scenario with the first line of its description.
void folder_list_scenarios(FILE *to);
