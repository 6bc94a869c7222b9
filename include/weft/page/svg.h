// SPDX-License-Identifier: Apache-2.0
// Pictures that are files of their own, as programs write them with --svg: how they begin and end,
// how they look, and an axis. Sizes are in units of the picture, from its upper left corner.
#pragma once

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// A vertical axis from round number to round number.
struct svg_axis {
	double left, right; // of its lines
	double top, height;
	double low, high, tick; // in the unit of the values
};

// Begins a picture with its background and `title`. `style` comes behind what all pictures have:
// texts of 11 pixels and the classes title, note, y, grid. The caller writes what is in it.
void svg_begin(FILE *to, double width, double height, const char *style, const char *title);

// Ends it. Returns 0, -EIO when it could not be written.
int svg_end(FILE *to);

// The next larger of 1, 2, 5, 10, ...
double svg_tick(double least);

// Where `value` is.
double svg_y(const struct svg_axis *axis, double value);

// Its lines and numbers, each with `unit` behind it.
void svg_axis_draw(FILE *to, const struct svg_axis *axis, const char *unit);

#ifdef __cplusplus
}
#endif
