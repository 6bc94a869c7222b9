// SPDX-License-Identifier: Apache-2.0
// How pictures of programs begin, end and look. See svg.h.

#include <weft/page/svg.h>

#include <errno.h>
#include <math.h>

#include <weft/result/report_escape.h>

void svg_begin(FILE *to, double width, double height, const char *style, const char *title)
{
	static const char *const all =
		"text{font:11px sans-serif;text-anchor:middle;fill:#1b1b1b}"
		".title{font-size:16px;font-weight:bold;text-anchor:start}"
		".note{text-anchor:start;fill:#555}.y{text-anchor:end;fill:#555}"
		".grid{stroke:#dde3ea}";
	fprintf(to,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='0 0 "
		"%.0f %.0f'>\n<style>%s%s</style>\n<rect width='%.0f' height='%.0f' "
		"style='fill:white;stroke:none'/>\n<text class='title' x='16' y='24'>",
		width, height, width, height, all, style, width, height);
	escape_xml(to, title);
	fputs("</text>\n", to);
}

int svg_end(FILE *to)
{
	fputs("</svg>\n", to);
	return ferror(to) ? -EIO : 0;
}

double svg_tick(double least)
{
	double power = pow(10, floor(log10(least))), of = least / power;
	return power * (of <= 1 ? 1 : of <= 2 ? 2 : of <= 5 ? 5 : 10);
}

double svg_y(const struct svg_axis *axis, double value)
{
	return axis->top + axis->height * (axis->high - value) / (axis->high - axis->low);
}

void svg_axis_draw(FILE *to, const struct svg_axis *axis, const char *unit)
{
	int count = (int)lround((axis->high - axis->low) / axis->tick);
	int digits = axis->tick < 1 ? (int)ceil(-log10(axis->tick) - 1e-9) : 0;
	for (int i = 0; i <= count; i++) {
		double value = axis->low + axis->tick * i, y = svg_y(axis, value);
		fprintf(to,
			"<line class='grid' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n"
			"<text class='y' x='%.1f' y='%.1f'>%.*f%s</text>\n",
			axis->left, y, axis->right, y, axis->left - 6, y + 4, digits, value, unit);
	}
}
