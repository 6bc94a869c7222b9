// SPDX-License-Identifier: Apache-2.0
// The two kinds of results that are compared, and the rows that they are compared in.
#pragma once

#include <jansson.h>

#include <weft/study/report_contrast.h>

// A new row, all of it nothing; NULL without memory.
struct contrast_row *contrast_add(struct contrast *contrast);

// Field by field, but for what is about the machine that ran it. -ENOMEM.
int contrast_runs(struct contrast *ret, const json_t *a, const json_t *b);

// Figure by figure over the seeds, of each point that both have. -ENOMEM.
int contrast_studies(struct contrast *ret, const json_t *a, const json_t *b);
