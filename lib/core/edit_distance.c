// SPDX-License-Identifier: Apache-2.0

#include <weft/core/edit_distance.h>

#include <string.h>

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t least = a < b ? a : b;
	return least < c ? least : c;
}

uint32_t edit_distance(const char *a, const char *b)
{
	uint32_t row[EDIT_DISTANCE_BYTES + 1];
	uint32_t columns = (uint32_t)strlen(b);
	for (uint32_t j = 0; j <= columns; j++)
		row[j] = j;
	for (uint32_t i = 1; a[i - 1] != '\0'; i++) {
		uint32_t diagonal = row[0];
		row[0] = i;
		for (uint32_t j = 1; j <= columns; j++) {
			uint32_t above = row[j];
			uint32_t swap = diagonal + (a[i - 1] != b[j - 1]);
			row[j] = min3(above + 1, row[j - 1] + 1, swap);
			diagonal = above;
		}
	}
	return row[columns];
}
