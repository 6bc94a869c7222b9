// SPDX-License-Identifier: Apache-2.0
// Two plots over racks, on a scale of powers of two: the step with what of it is exposed, and
// efficiency in both definitions.

#include <inttypes.h>
#include <math.h>

#include <weft/page/svg.h>

#include "scaling.h"

#define WIDTH 720.0
#define HEIGHT 580.0
#define LEFT 84.0
#define RIGHT 24.0
#define PLOT_HEIGHT 200.0
#define UPPER_TOP 76.0
#define LOWER_TOP 336.0
#define TICKS 4
#define LABEL_WIDTH 20.0 // of a number of racks

struct plot {
	FILE *to;
	const struct call *call;
	struct svg_axis y;
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

// Room for both rows, and a little around them; from one round number to another.
static void scale(struct plot *plot, double top, value_fn *first, value_fn *second)
{
	double low = INFINITY, high = -INFINITY;
	plot->racks_low = INFINITY;
	plot->racks_high = -INFINITY;
	for (uint32_t i = 0; i < plot->call->point_count; i++) {
		const struct point *point = &plot->call->points[i];
		low = fmin(low, fmin(first(point), second(point)));
		high = fmax(high, fmax(first(point), second(point)));
		plot->racks_low = fmin(plot->racks_low, log2(point->racks));
		plot->racks_high = fmax(plot->racks_high, log2(point->racks));
	}
	double around = fmax((high - low) * 0.05, high * 1e-4);
	double tick = svg_tick((high - low + 2 * around) / TICKS);
	plot->y = (struct svg_axis){.left = LEFT,
				    .right = WIDTH - RIGHT,
				    .top = top,
				    .height = PLOT_HEIGHT,
				    .low = floor((low - around) / tick) * tick,
				    .high = ceil((high + around) / tick) * tick,
				    .tick = tick};
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
	svg_axis_draw(plot->to, &plot->y, unit);
	const struct point *point = next_point(plot->call, 0);
	for (double free_from = 0; point != NULL; point = next_point(plot->call, point->racks)) {
		double x = x_of(plot, point->racks);
		if (x - LABEL_WIDTH / 2 < free_from)
			continue; // it would lie on the one before
		fprintf(plot->to, "<text x='%.1f' y='%.1f'>%" PRIu32 "</text>\n", x,
			plot->y.top + PLOT_HEIGHT + 18, point->racks);
		free_from = x + LABEL_WIDTH / 2;
	}
}

static void put_row(const struct plot *plot, value_fn *value, const char *name, int number)
{
	const struct point *point = next_point(plot->call, 0);
	fprintf(plot->to, "<polyline class='row%d' points='", number);
	for (; point != NULL; point = next_point(plot->call, point->racks))
		fprintf(plot->to, "%.1f,%.1f ", x_of(plot, point->racks),
			svg_y(&plot->y, value(point)));
	fputs("'/>\n", plot->to);
	for (point = next_point(plot->call, 0); point != NULL;
	     point = next_point(plot->call, point->racks))
		fprintf(plot->to, "<circle class='row%d' cx='%.1f' cy='%.1f' r='3.2'/>\n", number,
			x_of(plot, point->racks), svg_y(&plot->y, value(point)));
	fprintf(plot->to,
		"<circle class='row%d' cx='%.1f' cy='%.1f' r='4'/>\n"
		"<text class='note' x='%.1f' y='%.1f'>%s</text>\n",
		number, LEFT + 6 + 260.0 * number, plot->y.top - 14, LEFT + 16 + 260.0 * number,
		plot->y.top - 10, name);
}

// 95 % confidence of the mean.
static void put_spread(const struct plot *plot)
{
	for (uint32_t i = 0; plot->call->seed_count > 0 && i < plot->call->point_count; i++) {
		const struct point *point = &plot->call->points[i];
		double x = x_of(plot, point->racks), half = point->spread.half * 1e3;
		fprintf(plot->to, "<line class='bar' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n",
			x, svg_y(&plot->y, step_ms(point) - half), x,
			svg_y(&plot->y, step_ms(point) + half));
	}
}

static void put_head(FILE *to, const struct call *call)
{
	static const char *const style =
		".bar{stroke:#33475b;stroke-width:1.5}"
		"polyline{fill:none;stroke-width:1.6}"
		"polyline.row0{stroke:#2b6cb0}polyline.row1{stroke:#c98b4a;stroke-dasharray:5 3}"
		"circle.row0{fill:#2b6cb0}circle.row1{fill:#c98b4a}";
	char title[300];
	snprintf(title, sizeof(title), "%s: weak scaling", call->name);
	svg_begin(to, WIDTH, HEIGHT, style, title);
	fprintf(to,
		"<text class='note' x='16' y='42'>racks of %" PRIu32
		" GPUs; one step from its schedule, %s; the reference has %" PRIu32
		" rack%s</text>\n",
		call->gpus_per_rack,
		call->is_sample ? "with collectives packet by packet" : "no packets",
		call->reference->racks, call->reference->racks == 1 ? "" : "s");
}

int svg_draw(FILE *to, const struct call *call)
{
	struct plot upper = {.to = to, .call = call};
	struct plot lower = {.to = to, .call = call};
	put_head(to, call);
	scale(&upper, UPPER_TOP, step_ms, silent_ms);
	put_axes(&upper, " ms");
	put_spread(&upper);
	put_row(&upper, step_ms, "step", 0);
	put_row(&upper, silent_ms, "step without exposed communication", 1);
	scale(&lower, LOWER_TOP, efficiency_percent, consistency_percent);
	put_axes(&lower, " %");
	put_row(&lower, efficiency_percent, "efficiency: T(reference) / T", 0);
	put_row(&lower, consistency_percent, "consistency: 1 - |T - T(ref)| / T(ref)", 1);
	fprintf(to, "<text x='%.1f' y='572'>racks</text>\n", (LEFT + WIDTH - RIGHT) / 2);
	return svg_end(to);
}
