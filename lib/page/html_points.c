// SPDX-License-Identifier: Apache-2.0
// Points with their intervals, and lines over parallel axes, as SVG.

#include "html_plot.h"

#include <math.h>

static void scales_of_intervals(struct plot *plot)
{
	const json_t *series, *point;
	size_t i, k;
	json_array_foreach(json_object_get(plot->chart, "series"), i, series)
		json_array_foreach(json_object_get(series, "points"), k,
				   point) for (size_t end = 2; end < json_array_size(point); end++)
			plot_widen(&plot->y, plot_part(point, end));
}

static void point_at(const struct plot *plot, size_t index, const json_t *point)
{
	double x = plot_at(&plot->x, plot_part(point, 0)),
	       y = plot_at(&plot->y, plot_part(point, 1));
	if (json_array_size(point) > 3) {
		char kind[8];
		snprintf(kind, sizeof(kind), "s%zu", index % COLOURS);
		plot_line(plot->to, kind, x, plot_at(&plot->y, plot_part(point, 2)), x,
			  plot_at(&plot->y, plot_part(point, 3)));
	}
	fprintf(plot->to,
		"<circle class=\"f%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%.6g: "
		"%.6g</title></circle>",
		index % COLOURS, x, y, plot_part(point, 0), plot_part(point, 1));
}

void plot_points(struct plot *plot)
{
	const json_t *series, *point;
	size_t i, k;
	plot_scales(plot);
	scales_of_intervals(plot);
	plot_round_ends(&plot->x);
	plot_round_ends(&plot->y);
	plot_axis_x(plot);
	plot_axis_y(plot);
	json_array_foreach(json_object_get(plot->chart, "series"), i, series)
	{
		if (json_is_true(json_object_get(plot->chart, "joined")))
			plot_polyline(plot, i, json_object_get(series, "points"));
		json_array_foreach(json_object_get(series, "points"), k, point)
			point_at(plot, i, point);
	}
}

// The last axis has its own scale, the others go from 0 to 1. A value that is none breaks the line.
static void parallel_line(const struct plot *plot, size_t index, const json_t *values,
			  const struct scale *last)
{
	const json_t *value;
	size_t i, count = json_array_size(values);
	bool is_open = false;
	json_array_foreach(values, i, value)
	{
		if (!json_is_number(value)) {
			fputs(is_open ? "\"/>" : "", plot->to);
			is_open = false;
			continue;
		}
		if (!is_open)
			fprintf(plot->to, "<polyline class=\"s%zu thin\" points=\"",
				index % COLOURS);
		is_open = true;
		fprintf(plot->to, "%.1f,%.1f ", plot_at(&plot->x, (double)i),
			plot_at(i + 1 == count ? last : &plot->y, json_number_value(value)));
	}
	fputs(is_open ? "\"/>" : "", plot->to);
}

void plot_parallel(struct plot *plot)
{
	const json_t *labels = json_object_get(plot->chart, "labels"), *series, *each;
	size_t i, k, count = json_array_size(labels);
	struct scale last = {
		.low = INFINITY, .high = -INFINITY, .from = plot->y.from, .to = plot->y.to};
	plot->x.low = 0;
	plot->x.high = fmax(1, (double)count - 1);
	plot->y.low = 0;
	plot->y.high = 1;
	json_array_foreach(json_object_get(plot->chart, "series"), i, series)
		json_array_foreach(json_object_get(series, "points"), k,
				   each) if (json_is_number(json_array_get(each, count - 1)))
			plot_widen(&last, plot_part(each, count - 1));
	json_array_foreach(labels, i, each)
	{
		double x = plot_at(&plot->x, (double)i);
		plot_line(plot->to, "grid", x, plot->y.to, x, plot->y.from);
		plot_text(plot->to, x, plot->y.from + (i % 2 == 0 ? 16 : 32),
			  i == 0 ? "start" : "middle", json_string_value(each));
	}
	for (i = 0; i < 2 && last.low <= last.high; i++) {
		char text[32];
		snprintf(text, sizeof(text), "%.4g", i == 0 ? last.low : last.high);
		plot_text(plot->to, plot->x.to + 4, i == 0 ? plot->y.from : plot->y.to + 4, "start",
			  text);
	}
	json_array_foreach(json_object_get(plot->chart, "series"), i, series)
	{
		json_array_foreach(json_object_get(series, "points"), k, each)
			parallel_line(plot, i, each, &last);
	}
}
