// SPDX-License-Identifier: Apache-2.0
// The two kinds of results that are compared, and the rows that they are compared in.
#pragma once

#include <jansson.h>

#include <weft/study/run_diff.h>

// A new row, all of it nothing; NULL without memory.
struct run_diff_row *run_diff_add(struct run_diff *run_diff);

// Field by field, but for what is about the machine that ran it. -ENOMEM.
int run_diff_runs(struct run_diff *ret, const json_t *a, const json_t *b);

// Figure by figure over the seeds, of each point that both have. -ENOMEM.
int run_diff_studies(struct run_diff *ret, const json_t *a, const json_t *b);
