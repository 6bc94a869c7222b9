// SPDX-License-Identifier: Apache-2.0
// The rows of a comparison, and their memory.

#include <math.h>
#include <stdlib.h>

#include <weft/study/run_diff.h>

#include "study.h"

struct run_diff_row *run_diff_add(struct run_diff *run_diff)
{
	if ((run_diff->count & (run_diff->count - 1)) == 0) { // a power of two, or none: full
		size_t room = run_diff->count == 0 ? 1 : 2 * (size_t)run_diff->count;
		struct run_diff_row *rows = realloc(run_diff->rows, room * sizeof(*rows));
		if (rows == NULL)
			return NULL;
		run_diff->rows = rows;
	}
	struct run_diff_row *row = &run_diff->rows[run_diff->count++];
	*row = (struct run_diff_row){.low = NAN, .high = NAN, .chance = NAN};
	return row;
}

void run_diff_free(struct run_diff *run_diff)
{
	free(run_diff->rows);
	run_diff->rows = NULL;
	run_diff->count = 0;
}
