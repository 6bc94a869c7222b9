// SPDX-License-Identifier: Apache-2.0
// What the writers of a result share.
#pragma once

#include <stdio.h>

#include <weft/core/refusal.h>
#include <weft/result/report.h>

// Says that the result could not be written into the folder `dir`, and why: `code`, a negative
// errno. Another folder is advised only where it is the folder that is wrong. Returns the code to
// hand up. refusal may be NULL.
int write_failed(struct refusal *refusal, const char *dir, int code);

// Names the files of the result for the terminal table: a line each, behind the folder's.
void write_names(FILE *to, const struct report_input *input);
