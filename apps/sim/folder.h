// SPDX-License-Identifier: Apache-2.0
// Folders: where a result goes, and where scenarios come from.
#pragma once

#include <stdio.h>

#include <weft/refusal.h>

// Makes the folder `path` with its parents. One that holds anything but an earlier result is
// refused: -ENOTEMPTY.
int folder_make(const char *path, struct refusal *refusal);

// Prints each shipped scenario with the first line of its description.
void folder_list_scenarios(FILE *to);
