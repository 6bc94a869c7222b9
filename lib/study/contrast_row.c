// SPDX-License-Identifier: Apache-2.0
// The rows of a comparison, and their memory.

#include <math.h>
#include <stdlib.h>

#include <weft/study/report_contrast.h>

#include "contrast.h"

struct contrast_row *contrast_add(struct contrast *contrast)
{
	if ((contrast->count & (contrast->count - 1)) == 0) { // a power of two, or none: full
		size_t room = contrast->count == 0 ? 1 : 2 * (size_t)contrast->count;
		struct contrast_row *rows = realloc(contrast->rows, room * sizeof(*rows));
		if (rows == NULL)
			return NULL;
		contrast->rows = rows;
	}
	struct contrast_row *row = &contrast->rows[contrast->count++];
	*row = (struct contrast_row){.low = NAN, .high = NAN, .chance = NAN};
	return row;
}

void contrast_free(struct contrast *contrast)
{
	free(contrast->rows);
	contrast->rows = NULL;
	contrast->count = 0;
}
