// SPDX-License-Identifier: Apache-2.0
// Two plots over racks, on a scale of powers of two: the step with what of it is exposed, and
// efficiency in both definitions.

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include <weft/result/report_visible.h>

#include "scaling.h"

#define WIDTH 720.0
#define LEFT 84.0
#define RIGHT 24.0
#define PLOT_HEIGHT 200.0
#define UPPER_TOP 76.0
#define LOWER_TOP 336.0
#define TICKS 4
#define LABEL_WIDTH 20.0 // of a number of racks

// One plot: what lies between `low` and `high` is drawn from `top` on.
struct plot {
	FILE *to;
	const struct call *call;
	double top, low, high, tick;
	double racks_low, racks_high; // as logarithms
};

typedef double value_fn(const struct point *point);

static double step_ms(const struct point *point)
{
	return point->step_s * 1e3;
}

static double silent_ms(const struct point *point)
{
	return (point->step_s - point->exposed_s) * 1e3;
}

static double efficiency_percent(const struct point *point)
{
	return point->efficiency * 100;
}

static double consistency_percent(const struct point *point)
{
	return point->consistency * 100;
}

// ---------------------------------------------------------------- scales

static double x_of(const struct plot *plot, uint32_t racks)
{
	double wide = plot->racks_high - plot->racks_low;
	double share = wide > 0 ? (log2(racks) - plot->racks_low) / wide : 0.5;
	return LEFT + 16 + share * (WIDTH - LEFT - RIGHT - 32);
}

static double y_of(const struct plot *plot, double value)
{
	return plot->top + PLOT_HEIGHT * (plot->high - value) / (plot->high - plot->low);
}

// The next larger of 1, 2, 5, 10, ...
static double round_tick(double least)
{
	double power = pow(10, floor(log10(least)));
	double of = least / power;
	return power * (of <= 1 ? 1 : of <= 2 ? 2 : of <= 5 ? 5 : 10);
}

// Room for both rows, and a little around them; from one round number to another.
static void scale(struct plot *plot, value_fn *first, value_fn *second)
{
	plot->low = plot->racks_low = INFINITY;
	plot->high = plot->racks_high = -INFINITY;
	for (uint32_t i = 0; i < plot->call->point_count; i++) {
		const struct point *point = &plot->call->points[i];
		plot->low = fmin(plot->low, fmin(first(point), second(point)));
		plot->high = fmax(plot->high, fmax(first(point), second(point)));
		plot->racks_low = fmin(plot->racks_low, log2(point->racks));
		plot->racks_high = fmax(plot->racks_high, log2(point->racks));
	}
	double around = fmax((plot->high - plot->low) * 0.05, plot->high * 1e-4);
	plot->tick = round_tick((plot->high - plot->low + 2 * around) / TICKS);
	plot->low = floor((plot->low - around) / plot->tick) * plot->tick;
	plot->high = ceil((plot->high + around) / plot->tick) * plot->tick;
}

// The next larger number of racks than `after`, or NULL.
static const struct point *next_point(const struct call *call, uint32_t after)
{
	const struct point *found = NULL;
	for (uint32_t i = 0; i < call->point_count; i++) {
		const struct point *point = &call->points[i];
		if (point->racks > after && (found == NULL || point->racks < found->racks))
			found = point;
	}
	return found;
}

// ---------------------------------------------------------------- drawing

static void put_axes(const struct plot *plot, const char *unit)
{
	int count = (int)lround((plot->high - plot->low) / plot->tick);
	int digits = plot->tick < 1 ? (int)ceil(-log10(plot->tick) - 1e-9) : 0;
	for (int i = 0; i <= count; i++) {
		double value = plot->low + plot->tick * i;
		double y = y_of(plot, value);
		fprintf(plot->to,
			"<line class='grid' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n"
			"<text class='y' x='%.1f' y='%.1f'>%.*f%s</text>\n",
			LEFT, y, WIDTH - RIGHT, y, LEFT - 6, y + 4, digits, value, unit);
	}
	const struct point *point = next_point(plot->call, 0);
	for (double free_from = 0; point != NULL; point = next_point(plot->call, point->racks)) {
		double x = x_of(plot, point->racks);
		if (x - LABEL_WIDTH / 2 < free_from)
			continue; // it would lie on the one before
		fprintf(plot->to, "<text x='%.1f' y='%.1f'>%" PRIu32 "</text>\n", x,
			plot->top + PLOT_HEIGHT + 18, point->racks);
		free_from = x + LABEL_WIDTH / 2;
	}
}

static void put_row(const struct plot *plot, value_fn *value, const char *name, int number)
{
	const struct point *point = next_point(plot->call, 0);
	fprintf(plot->to, "<polyline class='row%d' points='", number);
	for (; point != NULL; point = next_point(plot->call, point->racks))
		fprintf(plot->to, "%.1f,%.1f ", x_of(plot, point->racks), y_of(plot, value(point)));
	fputs("'/>\n", plot->to);
	for (point = next_point(plot->call, 0); point != NULL;
	     point = next_point(plot->call, point->racks))
		fprintf(plot->to, "<circle class='row%d' cx='%.1f' cy='%.1f' r='3.2'/>\n", number,
			x_of(plot, point->racks), y_of(plot, value(point)));
	fprintf(plot->to,
		"<circle class='row%d' cx='%.1f' cy='%.1f' r='4'/>\n"
		"<text class='note' x='%.1f' y='%.1f'>%s</text>\n",
		number, LEFT + 6 + 260.0 * number, plot->top - 14, LEFT + 16 + 260.0 * number,
		plot->top - 10, name);
}

// 95 % confidence of the mean.
static void put_spread(const struct plot *plot)
{
	for (uint32_t i = 0; plot->call->seed_count > 0 && i < plot->call->point_count; i++) {
		const struct point *point = &plot->call->points[i];
		double x = x_of(plot, point->racks), half = point->spread.half * 1e3;
		fprintf(plot->to, "<line class='bar' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n",
			x, y_of(plot, step_ms(point) - half), x, y_of(plot, step_ms(point) + half));
	}
}

static void put_head(FILE *to, const struct call *call)
{
	static const char *const style =
		"text{font:11px sans-serif;text-anchor:middle;fill:#1b1b1b}"
		".title{font-size:16px;font-weight:bold;text-anchor:start}"
		".note{text-anchor:start;fill:#555}.y{text-anchor:end;fill:#555}"
		".grid{stroke:#dde3ea}.bar{stroke:#33475b;stroke-width:1.5}"
		"polyline{fill:none;stroke-width:1.6}"
		"polyline.row0{stroke:#2b6cb0}polyline.row1{stroke:#c98b4a;stroke-dasharray:5 3}"
		"circle.row0{fill:#2b6cb0}circle.row1{fill:#c98b4a}";
	fprintf(to,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='580' viewBox='0 0 "
		"%.0f 580'>\n<style>%s</style>\n<rect width='%.0f' height='580' fill='white'/>\n"
		"<text class='title' x='16' y='24'>",
		WIDTH, WIDTH, style, WIDTH);
	visible_xml(to, call->name);
	fprintf(to,
		": weak scaling</text>\n<text class='note' x='16' y='42'>racks of %" PRIu32
		" GPUs; one step from its schedule, %s; the reference has %" PRIu32
		" racks</text>\n",
		call->gpus_per_rack,
		call->is_sample ? "with collectives packet by packet" : "no packets",
		call->reference->racks);
}

int svg_draw(FILE *to, const struct call *call)
{
	struct plot upper = {.to = to, .call = call, .top = UPPER_TOP};
	struct plot lower = {.to = to, .call = call, .top = LOWER_TOP};
	put_head(to, call);
	scale(&upper, step_ms, silent_ms);
	put_axes(&upper, " ms");
	put_spread(&upper);
	put_row(&upper, step_ms, "step", 0);
	put_row(&upper, silent_ms, "step without exposed communication", 1);
	scale(&lower, efficiency_percent, consistency_percent);
	put_axes(&lower, " %");
	put_row(&lower, efficiency_percent, "efficiency: T(reference) / T", 0);
	put_row(&lower, consistency_percent, "consistency: 1 - |T - T(ref)| / T(ref)", 1);
	fprintf(to, "<text x='%.1f' y='572'>racks</text>\n</svg>\n", (LEFT + WIDTH - RIGHT) / 2);
	return ferror(to) ? -EIO : 0;
}
