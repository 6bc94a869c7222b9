// SPDX-License-Identifier: Apache-2.0

#include <weft/core/edit_distance.h>

#include <stdbool.h>
#include <string.h>

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t least = a < b ? a : b;
	return least < c ? least : c;
}

// Three rows of the table of edits: this one, and those of one and of two letters less of `a`.
uint32_t edit_distance(const char *a, const char *b)
{
	uint32_t rows[3][EDIT_DISTANCE_BYTES + 1];
	uint32_t columns = (uint32_t)strlen(b), i = 0;
	for (uint32_t j = 0; j <= columns; j++)
		rows[0][j] = j;
	for (i = 1; a[i - 1] != '\0'; i++) {
		uint32_t *row = rows[i % 3], *above = rows[(i - 1) % 3],
			 *higher = rows[(i + 1) % 3];
		row[0] = i;
		for (uint32_t j = 1; j <= columns; j++) {
			uint32_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = min3(above[j] + 1, row[j - 1] + 1, replaced);
			bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				a[i - 2] == b[j - 1];
			if (is_swap && higher[j - 2] + 1 < row[j])
				row[j] = higher[j - 2] + 1;
		}
	}
	return rows[(i - 1) % 3][columns];
}
