// SPDX-License-Identifier: Apache-2.0
// Charts as SVG. Colours are classes (s0 .. s7, and CSS variables), so that the page's style rules
// them in the dark and on paper.

#include "html_plot.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <weft/result/report_escape.h>

#define WIDTH 1100.0
#define WIDTH_NARROW 350.0
#define TOP 14.0
#define BOTTOM 46.0
#define LEFT 70.0
#define LEFT_NARROW 52.0
#define LEFT_NAMES 220.0 // where rows have names
#define LEFT_NAMES_NARROW 110.0
#define RIGHT 24.0
#define NARROW_LETTERS 14 // of a row's name
#define BAND_HEIGHT 7.0	  // of a fault
#define ROW_HEIGHT 22.0

// Times of faults behind what is drawn.
static void bands(const struct plot *plot)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(plot->chart, "bands"), i, each)
	{
		double from = plot_at(&plot->x, json_number_value(json_object_get(each, "from")));
		double to = plot_at(
			&plot->x,
			fmin(plot->x.high, json_number_value(json_object_get(each, "to"))));
		if (from > plot->x.to)
			continue;
		fprintf(plot->to,
			"<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			"height=\"%.1f\"><title>",
			from, plot->y.to - BAND_HEIGHT, fmax(2, to - from), BAND_HEIGHT);
		html_text(plot->to, json_string_value(json_object_get(each, "name")));
		fputs("</title></rect>", plot->to);
	}
}

// ---------------------------------------------------------------- lines and bars

static bool axis_is_log(const json_t *chart, const char *axis)
{
	return json_is_true(json_object_get(json_object_get(chart, axis), "log"));
}

static void lines(struct plot *plot)
{
	const json_t *series;
	size_t i;
	plot_scales(plot);
	plot_round_ends(&plot->x);
	plot_round_ends(&plot->y);
	bands(plot);
	plot_axis_x(plot);
	plot_axis_y(plot);
	json_array_foreach(json_object_get(plot->chart, "series"), i, series)
	{
		plot_polyline(plot, i, json_object_get(series, "points"));
	}
}

// The mean of a series of bars, where there is more than one.
static void mean_mark(const struct plot *plot, const json_t *points)
{
	const json_t *point;
	size_t i, count = json_array_size(points);
	double sum = 0;
	json_array_foreach(points, i, point) sum += plot_part(point, 1);
	if (count < 2)
		return;
	double y = plot_at(&plot->y, sum / (double)count);
	plot_line(plot->to, "mean", plot->x.from, y, plot->x.to, y);
	plot_text(plot->to, plot->x.to, y - 3, "end", "mean");
}

static void bars(struct plot *plot)
{
	const json_t *labels = json_object_get(plot->chart, "labels"), *series, *point;
	size_t i, k, count = json_array_size(labels);
	plot_scales(plot);
	plot->x.low = -0.5;
	plot->x.high = (double)count - 0.5;
	plot_round_ends(&plot->y);
	plot_axis_y(plot);
	double room = (plot->x.to - plot->x.from) / (double)(count > 0 ? count : 1);
	double width = fmin(60, 0.7 * room);
	size_t step = (size_t)ceil(56 / room); // as many names as fit
	json_array_foreach(json_object_get(plot->chart, "series"), i, series)
	{
		json_array_foreach(json_object_get(series, "points"), k, point)
		{
			double x = plot_at(&plot->x, plot_part(point, 0)),
			       y = plot_at(&plot->y, plot_part(point, 1));
			fprintf(plot->to,
				"<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				"height=\"%.1f\"/>",
				i % COLOURS, x - width / 2, y, width, plot->y.from - y);
			if (k % step == 0)
				plot_text(plot->to, x, plot->y.from + 16, "middle",
					  json_string_value(json_array_get(labels, k)));
		}
		mean_mark(plot, json_object_get(series, "points"));
	}
}

// ---------------------------------------------------------------- heat and spans

// A row with its name at the left of the plot.
static double row_top(const struct plot *plot, double row)
{
	return plot->y.to + row * ROW_HEIGHT;
}

static void row_names(const struct plot *plot)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(plot->chart, "rows"), i, each)
	{
		const char *name = json_string_value(each);
		char brief[24];
		snprintf(brief, sizeof(brief), "%.*s\xe2\x80\xa6", NARROW_LETTERS, name);
		plot_text(plot->to, plot->x.from - 6, row_top(plot, (double)i) + 15, "end",
			  plot->is_wide || strlen(name) <= NARROW_LETTERS + 1 ? name : brief);
	}
}

static void spans(struct plot *plot)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(plot->chart, "spans"), i, each)
	{
		plot_widen(&plot->x, plot_part(each, 1));
		plot_widen(&plot->x, plot_part(each, 2));
	}
	plot_round_ends(&plot->x);
	bands(plot);
	plot_axis_x(plot);
	row_names(plot);
	json_array_foreach(json_object_get(plot->chart, "spans"), i, each)
	{
		double from = plot_at(&plot->x, plot_part(each, 1)),
		       to = plot_at(&plot->x, plot_part(each, 2));
		fprintf(plot->to,
			"<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			"height=\"%.1f\"><title>",
			json_array_size(each) > 4 ? (size_t)plot_part(each, 4) : i % COLOURS, from,
			row_top(plot, plot_part(each, 0)) + 3, fmax(1, to - from), ROW_HEIGHT - 6);
		html_text(plot->to, json_string_value(json_array_get(each, 3)));
		fprintf(plot->to, ": %.6g to %.6g</title></rect>", plot_part(each, 1),
			plot_part(each, 2));
		if (json_array_size(each) > 5) {
			double x = plot_at(&plot->x, plot_part(each, 5));
			double top = row_top(plot, plot_part(each, 0));
			plot_line(plot->to, "mark", x, top + 1, x, top + ROW_HEIGHT - 1);
		}
	}
}

// ---------------------------------------------------------------- whole

size_t html_points(const json_t *chart)
{
	const json_t *series;
	size_t i,
		count = json_array_size(json_object_get(chart, "cells")) +
		json_array_size(json_object_get(chart, "spans"));
	json_array_foreach(json_object_get(chart, "series"), i, series)
		count += json_array_size(json_object_get(series, "points"));
	return count;
}

void html_svg(FILE *to, const json_t *chart, bool is_wide)
{
	static const struct {
		const char *kind;
		void (*draw)(struct plot *plot);
		bool has_rows;
	} kinds[] = {{"line", lines, false},
		     {"points", plot_points, false},
		     {"parallel", plot_parallel, false},
		     {"bar", bars, false},
		     {"spans", spans, true}};
	const char *kind = json_string_value(json_object_get(chart, "kind"));
	struct plot plot = {
		.to = to, .chart = chart, .height = is_wide ? 220 : 180, .is_wide = is_wide};
	double width = is_wide ? WIDTH : WIDTH_NARROW;
	size_t i = 0;
	while (strcmp(kinds[i].kind, kind) != 0)
		i++;
	if (kinds[i].has_rows)
		plot.height = ROW_HEIGHT *
			fmax(1, (double)json_array_size(json_object_get(chart, "rows")));
	plot.x = (struct scale){.low = INFINITY, .high = -INFINITY};
	plot.y = plot.x;
	plot.x.is_free = json_is_true(json_object_get(json_object_get(chart, "x"), "scale"));
	plot.y.is_free = json_is_true(json_object_get(json_object_get(chart, "y"), "scale"));
	plot.x.is_log = axis_is_log(chart, "x");
	plot.y.is_log = axis_is_log(chart, "y");
	plot.x.from = kinds[i].has_rows ? (is_wide ? LEFT_NAMES : LEFT_NAMES_NARROW)
					: (is_wide ? LEFT : LEFT_NARROW);
	plot.x.to = width - RIGHT;
	plot.y.from = TOP + plot.height;
	plot.y.to = TOP;
	fprintf(to, "<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
		is_wide ? "broad" : "narrow", width, TOP + plot.height + BOTTOM);
	html_text(to, json_string_value(json_object_get(chart, "title")));
	fprintf(to, ", %zu figures\">", html_points(chart));
	kinds[i].draw(&plot);
	fputs("</svg>\n", to);
}
