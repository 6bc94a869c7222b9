// SPDX-License-Identifier: Apache-2.0
// What the files that draw charts share: axes, and what lies along them.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define COLOURS 8

// One axis: values low .. high over pixels from .. to.
struct scale {
	double low, high, from, to;
	bool is_log, is_free; // free: zero need not be on it
};

struct plot {
	FILE *to;
	const json_t *chart;
	struct scale x, y;
	double height; // of the plot itself
	bool is_wide;
};

// Where a value lies, in pixels; makes room for one; and rounds the ends of what came in.
double plot_at(const struct scale *scale, double value);
void plot_widen(struct scale *scale, double value);
void plot_round_ends(struct scale *scale);

void plot_text(FILE *to, double x, double y, const char *anchor, const char *text);
void plot_line(FILE *to, const char *kind, double x1, double y1, double x2, double y2);
void plot_axis_x(const struct plot *plot);
void plot_axis_y(const struct plot *plot);

// A number of a list; the scales that all points of all series need; a series as a line.
double plot_part(const json_t *list, size_t index);
void plot_scales(struct plot *plot);
void plot_polyline(const struct plot *plot, size_t index, const json_t *points);

// Kinds of charts: html_points.c.
void plot_points(struct plot *plot);
void plot_parallel(struct plot *plot);

// A chart of a report model as SVG inside a page: what is printed, and what is seen without
// scripts.

// Text with the characters that mean something in HTML taken out of harm's way.
void html_text(FILE *to, const char *text);

// The same, with a space for each underscore.
void html_words(FILE *to, const char *text);

// How many figures the chart shows.
size_t html_points(const json_t *chart);

// For a wide screen, or a narrow one: words have the same size on both.
void html_svg(FILE *to, const json_t *chart, bool is_wide);

// The parts of a page that are its own: the story at its head, and maps that a small screen can
// show.

struct report_model;

// Verdict, figures, picture, and what failed first.
void html_story(FILE *to, const struct report_model *report_model);

// A chart of kind heat as a grid of cells, in place of a drawing.
void html_heat(FILE *to, const json_t *chart);
