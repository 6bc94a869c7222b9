// SPDX-License-Identifier: Apache-2.0
// Goodput over the interval between checkpoints, from an eighth to eight times that of the table:
// what runs came to and what the closed form says, with Young's and Daly's intervals.

#include <math.h>

#include <weft/page/svg.h>

#include "goodput.h"

#define WIDTH 720.0
#define HEIGHT 400.0
#define LEFT 84.0
#define RIGHT 24.0
#define TOP 92.0
#define PLOT_HEIGHT 240.0
#define POINTS 13
#define OCTAVES 3.0 // to each side
#define RUNS_MAX 100
#define TICKS 5

struct curve {
	double interval_s[POINTS], runs[POINTS], closed[POINTS]; // shares; NAN: none
};

struct plot {
	FILE *to;
	struct svg_axis y; // percent
	double first_s;	   // the shortest interval
};

static void work_out(struct curve *ret, const struct call *call, const struct side *side)
{
	struct goodput_setup setup = side->setup;
	uint32_t runs = call->numbers.runs < RUNS_MAX ? call->numbers.runs : RUNS_MAX;
	for (int i = 0; i < POINTS; i++) {
		struct refusal refusal;
		double octaves = OCTAVES * (2.0 * i / (POINTS - 1) - 1);
		setup.interval_s = call->sides[FABRIC_MRC].setup.interval_s * exp2(octaves);
		bool is_good = goodput_check(&setup, &refusal) == 0;
		ret->interval_s[i] = setup.interval_s;
		ret->runs[i] = is_good ? goodput_mean(&setup, runs) * 100 : NAN;
		ret->closed[i] = is_good && !isnan(side->closed) ? goodput_closed(&setup) * 100
								 : NAN;
	}
}

// ---------------------------------------------------------------- scales

static double x_of(const struct plot *plot, double interval_s)
{
	return LEFT + log2(interval_s / plot->first_s) / (2 * OCTAVES) * (WIDTH - LEFT - RIGHT);
}

static void scale(struct plot *plot, const struct curve curves[FABRIC_COUNT])
{
	double low = INFINITY, high = -INFINITY;
	for (int i = 0; i < FABRIC_COUNT * POINTS; i++) {
		const struct curve *curve = &curves[i / POINTS];
		low = fmin(low, fmin(curve->runs[i % POINTS], curve->closed[i % POINTS]));
		high = fmax(high, fmax(curve->runs[i % POINTS], curve->closed[i % POINTS]));
	}
	double tick = svg_tick(fmax(high - low, 1e-3) / TICKS);
	plot->y = (struct svg_axis){.left = LEFT,
				    .right = WIDTH - RIGHT,
				    .top = TOP,
				    .height = PLOT_HEIGHT,
				    .low = floor(low / tick) * tick,
				    .high = (floor(high / tick) + 1) * tick,
				    .tick = tick};
	plot->first_s = curves[0].interval_s[0];
}

// ---------------------------------------------------------------- drawing

static void put_axes(const struct plot *plot, const struct curve *curve)
{
	svg_axis_draw(plot->to, &plot->y, " %");
	for (int i = 0; i < POINTS; i += 2)
		fprintf(plot->to, "<text x='%.1f' y='%.1f'>%.3g min</text>\n",
			x_of(plot, curve->interval_s[i]), TOP + PLOT_HEIGHT + 18,
			curve->interval_s[i] / 60);
}

static void put_row(const struct plot *plot, const struct curve *curve, const double *values,
		    const char *row)
{
	fprintf(plot->to, "<polyline class='%s' points='", row);
	for (int i = 0; i < POINTS; i++)
		if (!isnan(values[i]))
			fprintf(plot->to, "%.1f,%.1f ", x_of(plot, curve->interval_s[i]),
				svg_y(&plot->y, values[i]));
	fputs("'/>\n", plot->to);
}

static void put_mark(const struct plot *plot, double interval_s, const char *what, int line)
{
	double x = interval_s > 0 ? x_of(plot, interval_s) : NAN;
	if (!(x >= LEFT && x <= WIDTH - RIGHT))
		return; // beyond the picture
	fprintf(plot->to,
		"<line class='mark' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n"
		"<text class='note' x='%.1f' y='%.1f'>%s %.3g min</text>\n",
		x, TOP, x, TOP + PLOT_HEIGHT, x + 4, TOP + PLOT_HEIGHT - 8 - 14 * line, what,
		interval_s / 60);
}

static void put_head(FILE *to, const struct call *call)
{
	static const char *const style =
		".mark{stroke:#33475b;stroke-dasharray:2 3}"
		"polyline{fill:none;stroke-width:1.8}.mrc{stroke:#2b6cb0}.roce{stroke:#c98b4a}"
		".closed{stroke-dasharray:5 3;stroke-width:1}";
	char title[80];
	snprintf(title, sizeof(title), "Goodput of %.3g days on %u GPUs", call->numbers.days,
		 call->gpus);
	svg_begin(to, WIDTH, HEIGHT, style, title);
	fputs("<text class='note' x='16' y='44'>over the interval between checkpoints; blue: MRC, "
	      "brown: RoCE; dashed: the closed form</text>\n",
	      to);
}

int svg_draw(FILE *to, const struct call *call)
{
	static const char *const rows[] = {"mrc", "roce"},
				 *const dashed[] = {"mrc closed", "roce closed"};
	const struct side *mrc = &call->sides[FABRIC_MRC];
	struct curve curves[FABRIC_COUNT];
	struct plot plot = {.to = to};
	for (int i = 0; i < FABRIC_COUNT; i++)
		work_out(&curves[i], call, &call->sides[i]);
	scale(&plot, curves);
	put_head(to, call);
	put_axes(&plot, &curves[0]);
	for (int i = 0; i < FABRIC_COUNT; i++) {
		put_row(&plot, &curves[i], curves[i].runs, rows[i]);
		put_row(&plot, &curves[i], curves[i].closed, dashed[i]);
	}
	put_mark(&plot, mrc->setup.interval_s, call->is_auto ? "best of the runs" : "given", 0);
	put_mark(&plot, mrc->young_s, "Young", 1);
	put_mark(&plot, mrc->daly_s, "Daly", 2);
	return svg_end(to);
}
