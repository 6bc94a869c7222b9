// SPDX-License-Identifier: Apache-2.0
// A map as a grid of cells: each has its shade and, where there is room, its number in a colour
// that can be read on it. The number is in the title of the cell in any case.

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>

#include "html_plot.h"

#define SHADES 6
#define FEW 6	     // columns whose numbers fit on any screen
#define SOME 16	     // and on a wide one
#define NAMES_MAX 16 // of columns; of more, every second, and so on

// Whether a column has a value in some row, or a row in some column: what has none is left out.
static bool has_value(const json_t *const *grid, size_t first, size_t step, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (json_is_number(grid[first + i * step]))
			return true;
	return false;
}

// Names of columns; of many only their numbers, and not of each.
static void names(FILE *to, const json_t *labels, const bool *is_shown, size_t shown)
{
	const json_t *each;
	size_t i, at = 0, step = (shown + NAMES_MAX - 1) / NAMES_MAX;
	fputs("<div></div>", to);
	json_array_foreach(labels, i, each)
	{
		const char *name = json_string_value(each), *number = strchr(name, ' ');
		if (!is_shown[i])
			continue;
		fputs("<div class=\"head\">", to);
		if (at++ % step == 0)
			html_text(to, shown > FEW && number != NULL ? number + 1 : name);
		fputs("</div>", to);
	}
}

static void cell(FILE *to, const json_t *value, double cool, double most)
{
	double share = 0;
	if (!json_is_number(value)) {
		fputs("<div class=\"cell none\"></div>", to);
		return;
	}
	if (most > cool)
		share = (json_number_value(value) - cool) / (most - cool);
	fprintf(to, "<div class=\"cell c%d\" title=\"%.4g\">%.3g</div>",
		(int)fmin(SHADES - 1, floor(fmax(0, share) * SHADES)), json_number_value(value),
		json_number_value(value));
}

// Cells by row and column, and the largest of them.
static const json_t **grid_of(const json_t *cells, size_t columns, size_t rows, double *ret_most)
{
	const json_t **grid = calloc(columns * rows + 1, sizeof(*grid)), *each;
	size_t i;
	check_memory(grid != NULL);
	*ret_most = 0;
	json_array_foreach(cells, i, each)
	{
		size_t at = (size_t)plot_part(each, 1) * columns + (size_t)plot_part(each, 0);
		*ret_most = fmax(*ret_most, plot_part(each, 2));
		if (at < columns * rows)
			grid[at] = json_array_get(each, 2);
	}
	return grid;
}

static void axes(FILE *to, const json_t *chart)
{
	const char *x = json_string_value(json_object_get(json_object_get(chart, "x"), "name")),
		   *y = json_string_value(json_object_get(json_object_get(chart, "y"), "name"));
	fputs("<p class=\"note\">row: ", to);
	html_text(to, y != NULL ? y : "");
	fputs("; column: ", to);
	html_text(to, x != NULL ? x : "");
	fputs("</p>\n", to);
}

void html_heat(FILE *to, const json_t *chart)
{
	const json_t *labels = json_object_get(chart, "labels"),
		     *rows = json_object_get(chart, "rows");
	size_t columns = json_array_size(labels), count = json_array_size(rows), shown = 0, i;
	double most, cool = json_number_value(json_object_get(chart, "cool"));
	const json_t **grid = grid_of(json_object_get(chart, "cells"), columns, count, &most);
	bool *is_shown = calloc(columns + 1, sizeof(*is_shown));
	check_memory(is_shown != NULL);
	for (i = 0; i < columns; i++)
		shown += is_shown[i] = has_value(grid, i, columns, count);
	fprintf(to,
		"<div class=\"frame\" role=\"img\" aria-labelledby=\"name-%s\"><div class=\"heat "
		"%s\" "
		"style=\"grid-template-columns:minmax(3.5rem,max-content) "
		"repeat(%zu,minmax(0,%s))\">",
		json_string_value(json_object_get(chart, "id")),
		shown <= FEW		? "few"
			: shown <= SOME ? "some"
					: "many",
		shown, shown <= FEW ? "9rem" : "1fr");
	names(to, labels, is_shown, shown);
	for (i = 0; i < count; i++) {
		if (!has_value(grid, i * columns, 1, columns))
			continue;
		fputs("<div class=\"name\">", to);
		html_words(to, json_string_value(json_array_get(rows, i)));
		fputs("</div>", to);
		for (size_t k = 0; k < columns; k++)
			if (is_shown[k])
				cell(to, grid[i * columns + k], cool, most);
		fputs("\n", to);
	}
	fputs("</div></div>\n", to);
	axes(to, chart);
	free(is_shown);
	free(grid);
}
