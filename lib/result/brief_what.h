// SPDX-License-Identifier: Apache-2.0
// The head of the short form: what ran in a few words, and how it ended.
#pragma once

#include "brief_line.h"

void brief_what(struct brief_line *line, const struct report_input *input);

// Why a run is not complete, in a sentence.
void brief_why_partial(const struct report_input *input, char *ret, size_t bytes);
