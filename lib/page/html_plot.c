// SPDX-License-Identifier: Apache-2.0
// What charts consist of: text, scales, axes, and what lies along them.

#include "html_plot.h"

#include <math.h>
#include <string.h>

#include <weft/result/report_escape.h>

#define TICKS 6
#define TICKS_NARROW 3

void html_text(FILE *to, const char *text)
{
	escape_xml(to, text);
}

void html_words(FILE *to, const char *text)
{
	char words[160];
	snprintf(words, sizeof(words), "%s", text);
	for (char *at = words; *at != '\0'; at++)
		*at = *at == '_' ? ' ' : *at;
	html_text(to, words);
}

// ---------------------------------------------------------------- scales

double plot_at(const struct scale *scale, double value)
{
	double low = scale->low, high = scale->high;
	if (scale->is_log) {
		low = log10(low);
		high = log10(high);
		value = log10(value);
	}
	double share = high > low ? (value - low) / (high - low) : 0.5;
	return scale->from + share * (scale->to - scale->from);
}

void plot_widen(struct scale *scale, double value)
{
	if (scale->is_log && value <= 0)
		return;
	scale->low = fmin(scale->low, value);
	scale->high = fmax(scale->high, value);
}

// Whole powers of ten on a logarithmic axis; a linear one begins at zero where all is above.
void plot_round_ends(struct scale *scale)
{
	if (scale->low > scale->high) // nothing was in it
		scale->low = scale->is_log ? 1 : 0, scale->high = 1;
	if (scale->is_log) {
		scale->low = pow(10, floor(log10(scale->low)));
		scale->high = pow(10, ceil(log10(scale->high)));
		if (scale->low == scale->high)
			scale->high *= 10;
		return;
	}
	if (scale->is_free) {
		double margin = 0.1 * (scale->high - scale->low);
		scale->low -= margin;
		scale->high += margin;
	} else if (scale->low > 0) {
		scale->low = 0;
	}
	if (scale->high <= scale->low)
		scale->high = scale->low + 1;
}

// 1, 2 or 5 times a power of ten.
static double step_of(const struct scale *scale)
{
	bool is_narrow = fabs(scale->to - scale->from) < 320 && scale->to > scale->from;
	double raw = (scale->high - scale->low) / (is_narrow ? TICKS_NARROW : TICKS),
	       power = pow(10, floor(log10(raw)));
	double lead = raw / power;
	return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

static double next_tick(const struct scale *scale, double tick)
{
	return scale->is_log ? tick * 10 : tick + step_of(scale);
}

static double first_tick(const struct scale *scale)
{
	return scale->is_log ? scale->low : ceil(scale->low / step_of(scale)) * step_of(scale);
}

// ---------------------------------------------------------------- axes

void plot_text(FILE *to, double x, double y, const char *anchor, const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	html_text(to, text);
	fputs("</text>", to);
}

void plot_line(FILE *to, const char *kind, double x1, double y1, double x2, double y2)
{
	fprintf(to, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", kind,
		x1, y1, x2, y2);
}

static const char *axis_name(const json_t *chart, const char *axis)
{
	const char *name = json_string_value(json_object_get(json_object_get(chart, axis), "name"));
	return name != NULL ? name : "";
}

void plot_axis_x(const struct plot *plot)
{
	const struct scale *x = &plot->x, *y = &plot->y;
	double end = x->high + (x->high - x->low) * 1e-9;
	for (double tick = first_tick(x); tick <= end; tick = next_tick(x, tick)) {
		char text[32];
		snprintf(text, sizeof(text), "%g", fabs(tick) < 1e-12 ? 0 : tick);
		plot_line(plot->to, "grid", plot_at(x, tick), y->to, plot_at(x, tick), y->from);
		plot_text(plot->to, plot_at(x, tick), y->from + 16, "middle", text);
	}
	plot_text(plot->to, (x->from + x->to) / 2, y->from + 36, "middle",
		  axis_name(plot->chart, "x"));
}

void plot_axis_y(const struct plot *plot)
{
	const struct scale *x = &plot->x, *y = &plot->y;
	double end = y->high + (y->high - y->low) * 1e-9;
	for (double tick = first_tick(y); tick <= end; tick = next_tick(y, tick)) {
		char text[32];
		snprintf(text, sizeof(text), "%g", fabs(tick) < 1e-12 ? 0 : tick);
		plot_line(plot->to, "grid", x->from, plot_at(y, tick), x->to, plot_at(y, tick));
		plot_text(plot->to, x->from - 6, plot_at(y, tick) + 4, "end", text);
	}
	double middle = (y->from + y->to) / 2;
	fprintf(plot->to,
		"<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">",
		middle);
	html_text(plot->to, axis_name(plot->chart, "y"));
	fputs("</text>", plot->to);
}

double plot_part(const json_t *list, size_t index)
{
	return json_number_value(json_array_get(list, index));
}

void plot_scales(struct plot *plot)
{
	const json_t *series, *point;
	size_t i, k;
	json_array_foreach(json_object_get(plot->chart, "series"), i, series)
		json_array_foreach(json_object_get(series, "points"), k, point)
	{
		plot_widen(&plot->x, plot_part(point, 0));
		plot_widen(&plot->y, plot_part(point, 1));
	}
}

void plot_polyline(const struct plot *plot, size_t index, const json_t *points)
{
	const json_t *point;
	size_t i;
	fprintf(plot->to, "<polyline class=\"s%zu\" points=\"", index % COLOURS);
	json_array_foreach(points, i, point)
	{
		bool is_drawn = (!plot->x.is_log || plot_part(point, 0) > 0) &&
			(!plot->y.is_log || plot_part(point, 1) > 0);
		if (is_drawn)
			fprintf(plot->to, "%.1f,%.1f ", plot_at(&plot->x, plot_part(point, 0)),
				plot_at(&plot->y, plot_part(point, 1)));
	}
	fputs("\"/>", plot->to);
}
