// SPDX-License-Identifier: Apache-2.0
// The picture: links first, then switches with their NICs, plane by plane. Parallel links are one
// line with their number; links of switches that are not drawn are left out, and the picture says
// how many switches there are.

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <weft/fabric/fabric.h>
#include <weft/page/svg.h>
#include <weft/result/report_escape.h>

#include "figures.h"

// Rows for trees and rails (tier 0 below), a grid for a torus (layers along z side by side), a
// circle for any other graph. What would be too small to see is left out: of a long row its middle,
// of a grid what lies beyond the first rows, of a circle the last switches.

enum layout_form { LAYOUT_ROWS, LAYOUT_GRID, LAYOUT_CIRCLE };

struct xy {
	double x, y;
	bool is_shown;
};

struct layout {
	enum layout_form form;
	double width, height; // of a plane
	uint32_t switches, shown;
	struct xy *spots;		  // [switches]
	double row_y[TOPOLOGY_TIERS_MAX]; // rows
	uint32_t row_count[TOPOLOGY_TIERS_MAX], row_shown[TOPOLOGY_TIERS_MAX];
};

#define ROW_MAX 16u
#define GRID_MAX 8u
#define LAYERS_MAX 4u
#define CIRCLE_MAX 48u
#define STEP 76.0 // between neighbours
#define TOP 30.0  // above the first switch
#define ROW_STEP 130.0
#define MARGIN 50.0

static void show(struct layout *layout, uint32_t at, double x, double y)
{
	layout->spots[at] = (struct xy){x, y, true};
	layout->shown++;
}

// ---------------------------------------------------------------- rows

// The place of a switch in its row: all when there are few, else the first ones and the last, with
// a gap before it. -1: not drawn.
static int slot_of(uint32_t index, uint32_t count)
{
	if (count <= ROW_MAX || index < ROW_MAX - 2)
		return (int)index;
	return index == count - 1 ? (int)ROW_MAX - 1 : -1;
}

static void lay_rows(struct layout *layout, const struct topology *topology)
{
	uint32_t tiers = 0, widest = 1;
	for (uint32_t i = 0; i < layout->switches; i++) {
		uint32_t tier = topology->switches[i].tier;
		layout->row_count[tier]++;
		tiers = tier + 1 > tiers ? tier + 1 : tiers;
	}
	for (uint32_t tier = 0; tier < tiers; tier++) {
		uint32_t count = layout->row_count[tier] < ROW_MAX ? layout->row_count[tier]
								   : ROW_MAX;
		widest = count > widest ? count : widest;
		layout->row_y[tier] = TOP + (tiers - 1 - tier) * ROW_STEP;
	}
	layout->width = 2 * MARGIN + (widest - 1) * STEP;
	layout->height = TOP + (tiers - 1) * ROW_STEP + 60;
	for (uint32_t i = 0; i < layout->switches; i++) {
		const struct switch_plan *plan = &topology->switches[i];
		uint32_t count = layout->row_count[plan->tier];
		uint32_t slots = count < ROW_MAX ? count : ROW_MAX;
		int slot = slot_of(plan->index, count);
		if (slot < 0)
			continue;
		double x = layout->width / 2 + (slot - (slots - 1) / 2.0) * STEP;
		show(layout, i, x, layout->row_y[plan->tier]);
		layout->row_shown[plan->tier]++;
	}
}

// ---------------------------------------------------------------- grid

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void lay_grid(struct layout *layout, const uint32_t size[3])
{
	uint32_t columns = smaller(size[0], GRID_MAX), rows = smaller(size[1], GRID_MAX);
	uint32_t layers = smaller(size[2], LAYERS_MAX);
	double layer_width = columns * STEP + 40;
	layout->width = 2 * MARGIN + layers * layer_width - STEP - 40 + 2 * 20;
	layout->height = TOP + (rows - 1) * STEP + 80;
	for (uint32_t i = 0; i < layout->switches; i++) {
		uint32_t x = i % size[0], y = i / size[0] % size[1], z = i / size[0] / size[1];
		if (x < columns && y < rows && z < layers)
			show(layout, i, MARGIN + 20 + z * layer_width + x * STEP,
			     TOP + 20 + y * STEP);
	}
}

// ---------------------------------------------------------------- circle

static void lay_circle(struct layout *layout)
{
	uint32_t count = smaller(layout->switches, CIRCLE_MAX);
	double radius = count < 3 ? STEP : count * STEP * 1.3 / 6.283;
	radius = radius < STEP ? STEP : radius;
	layout->width = 2 * (MARGIN + radius + 20);
	layout->height = count < 3 ? TOP + 90 : TOP + 2 * radius + 80;
	double middle = count < 3 ? TOP + 20 : TOP + 20 + radius;
	for (uint32_t i = 0; i < count; i++) {
		double angle = 6.283185307179586 * i / count +
			(count < 3 ? 3.141592653589793 : -1.5707963267948966);
		show(layout, i, layout->width / 2 + radius * cos(angle),
		     middle + radius * sin(angle));
	}
}

// -ENOMEM. layout_free() gives the memory back.
static int layout_make(struct layout *ret, const struct topology *topology,
		       const struct fabric_config *config)
{
	*ret = (struct layout){.switches = topology->switch_count / topology->planes};
	ret->spots = calloc(ret->switches, sizeof(*ret->spots));
	if (ret->spots == NULL)
		return -ENOMEM;
	ret->form = config->kind == TOPOLOGY_TORUS ? LAYOUT_GRID
		: topology->names != NULL	   ? LAYOUT_CIRCLE
						   : LAYOUT_ROWS;
	if (ret->form == LAYOUT_ROWS)
		lay_rows(ret, topology);
	else if (ret->form == LAYOUT_GRID)
		lay_grid(ret, config->torus);
	else
		lay_circle(ret);
	return 0;
}

static void layout_free(struct layout *layout)
{
	free(layout->spots);
}

#define PLANES_SHOWN 4u
#define HEAD 66.0 // room for the title
#define NICS_SHOWN 8u

struct drawing {
	FILE *to;
	const struct scenario *scenario;
	const struct topology *topology;
	struct layout layout;
	double left; // of the plane under way
};

static double x_of(const struct drawing *drawing, uint32_t at)
{
	return drawing->left + drawing->layout.spots[at].x;
}

static double y_of(const struct drawing *drawing, uint32_t at)
{
	return HEAD + drawing->layout.spots[at].y;
}

// ---------------------------------------------------------------- links

// Whether a link of a torus is one that closes a ring: it joins switches that are not side by side.
static bool is_wrap(const struct drawing *drawing, uint32_t a, uint32_t b)
{
	const struct xy *spots = drawing->layout.spots;
	double dx = spots[a].x - spots[b].x, dy = spots[a].y - spots[b].y;
	return drawing->layout.form == LAYOUT_GRID && dx * dx + dy * dy > 80.0 * 80.0;
}

static void put_line(const struct drawing *drawing, uint32_t a, uint32_t b, uint32_t count)
{
	double ax = x_of(drawing, a), ay = y_of(drawing, a);
	double bx = x_of(drawing, b), by = y_of(drawing, b);
	double width = count < 4 ? 0.8 + 0.5 * count : 2.8;
	if (is_wrap(drawing, a, b)) {
		double bend = ay == by ? 30 : 0, side = ax == bx ? 30 : 0;
		fprintf(drawing->to,
			"<path class='wrap' d='M%.1f %.1f Q%.1f %.1f %.1f %.1f' "
			"stroke-width='%.1f'/>\n",
			ax, ay, (ax + bx) / 2 - side, (ay + by) / 2 - bend, bx, by, width);
	} else {
		fprintf(drawing->to,
			"<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke-width='%.1f'/>\n", ax,
			ay, bx, by, width);
	}
	if (count > 1)
		fprintf(drawing->to, "<text class='count' x='%.1f' y='%.1f'>%" PRIu32 "</text>\n",
			(ax * 2 + bx) / 3, (ay * 2 + by) / 3 - 2, count);
}

// The links from a switch to those that come after it; parallel ones lie side by side in its ports.
static void put_links_of(const struct drawing *drawing, uint32_t at)
{
	const struct topology *topology = drawing->topology;
	const struct switch_plan *plan = &topology->switches[at];
	uint32_t last = UINT32_MAX, count = 0;
	for (uint32_t port = 0; port < plan->port_count; port++) {
		uint32_t peer = topology_behind(topology, at, port) - topology->hosts;
		bool is_drawn = topology_behind(topology, at, port) >= topology->hosts &&
			peer > at && drawing->layout.spots[peer].is_shown;
		if (count > 0 && (!is_drawn || peer != last)) {
			put_line(drawing, at, last, count);
			count = 0;
		}
		if (is_drawn) {
			last = peer;
			count++;
		}
	}
	if (count > 0)
		put_line(drawing, at, last, count);
}

// ---------------------------------------------------------------- switches

static uint32_t nics_at(const struct topology *topology, uint32_t at)
{
	const struct switch_plan *plan = &topology->switches[at];
	uint32_t nics = 0;
	for (uint32_t port = 0; port < plan->port_count; port++)
		nics += topology_behind(topology, at, port) < topology->hosts;
	return nics;
}

// NICs as dots below their switch, and how many there are when not all fit.
static void put_nics(const struct drawing *drawing, uint32_t at)
{
	uint32_t nics = nics_at(drawing->topology, at);
	uint32_t shown = nics < NICS_SHOWN ? nics : NICS_SHOWN;
	double x = x_of(drawing, at), y = y_of(drawing, at) + 20;
	for (uint32_t i = 0; i < shown; i++)
		fprintf(drawing->to, "<circle class='nic' cx='%.1f' cy='%.1f' r='2.6'/>\n",
			x + (i - (shown - 1) / 2.0) * 7, y);
	if (nics > shown)
		fprintf(drawing->to,
			"<text class='count' x='%.1f' y='%.1f'>%" PRIu32 " NICs</text>\n", x,
			y + 14, nics);
}

static void put_switch(const struct drawing *drawing, uint32_t at)
{
	const struct switch_plan *plan = &drawing->topology->switches[at];
	double x = x_of(drawing, at), y = y_of(drawing, at);
	fprintf(drawing->to,
		"<rect class='t%u' x='%.1f' y='%.1f' width='48' height='22' rx='4'/>\n"
		"<text x='%.1f' y='%.1f'>",
		plan->tier, x - 24, y - 11, x, y + 4);
	if (drawing->topology->names != NULL)
		escape_xml(drawing->to, drawing->topology->names[plan->index]);
	else
		fprintf(drawing->to, "t%u %" PRIu32, plan->tier, plan->index);
	fputs("</text>\n", drawing->to);
	put_nics(drawing, at);
}

// ---------------------------------------------------------------- a plane

static void put_rows(const struct drawing *drawing)
{
	const struct layout *layout = &drawing->layout;
	for (uint32_t tier = 0; tier < TOPOLOGY_TIERS_MAX; tier++) {
		uint32_t count = layout->row_count[tier];
		if (count > layout->row_shown[tier])
			fprintf(drawing->to,
				"<text class='gap' x='%.1f' y='%.1f'>... %" PRIu32
				" in all</text>\n",
				drawing->left + layout->width - 126,
				HEAD + layout->row_y[tier] - 16, count);
	}
}

static void put_plane(const struct drawing *drawing, uint32_t plane)
{
	const struct layout *layout = &drawing->layout;
	fprintf(drawing->to,
		"<g>\n<text class='plane' x='%.1f' y='%.1f'>plane %" PRIu32 "</text>\n",
		drawing->left + layout->width / 2, HEAD - 4, plane);
	fputs("<g class='links'>\n", drawing->to);
	for (uint32_t i = 0; i < layout->switches; i++)
		if (layout->spots[i].is_shown)
			put_links_of(drawing, i);
	fputs("</g>\n", drawing->to);
	for (uint32_t i = 0; i < layout->switches; i++)
		if (layout->spots[i].is_shown)
			put_switch(drawing, i);
	put_rows(drawing);
	fputs("</g>\n", drawing->to);
}

static const char *const style =
	".plane{font-weight:bold;fill:#555}"
	".count{font-size:9px;fill:#555}.gap{fill:#555}"
	".links *{stroke:#9aa7b5;fill:none}.links .count{stroke:none;fill:#555}"
	".links .wrap{stroke:#c98b4a;stroke-dasharray:4 2}"
	"rect{stroke:#33475b;stroke-width:1}"
	".t0{fill:#d7e8fa}.t1{fill:#d9f2d9}.t2{fill:#f9e6c8}.nic{fill:#33475b}";

static void put_head(const struct drawing *drawing, uint32_t planes)
{
	const struct topology *topology = drawing->topology;
	const struct layout *layout = &drawing->layout;
	double width = layout->width * planes;
	width = width < 560 ? 560 : width;
	char title[300];
	snprintf(title, sizeof(title), "%s: %s", drawing->scenario->name,
		 kind_name(topology->kind));
	svg_begin(drawing->to, width, layout->height + HEAD, style, title);
	fprintf(drawing->to,
		"<text class='note' x='16' y='42'>%" PRIu32 " NICs, %" PRIu32
		" planes with %" PRIu32 " switches and %" PRIu32 " links each",
		topology->nics, topology->planes, layout->switches,
		topology->link_count / topology->planes);
	if (layout->shown < layout->switches || planes < topology->planes)
		fprintf(drawing->to,
			"; abridged: drawn are %" PRIu32 " planes and %" PRIu32 " switches of each",
			planes, layout->shown);
	fputs("</text>\n", drawing->to);
}

int svg_draw(FILE *to, const struct scenario *scenario, const struct topology *topology)
{
	struct drawing drawing = {.to = to, .scenario = scenario, .topology = topology};
	uint32_t planes = topology->planes < PLANES_SHOWN ? topology->planes : PLANES_SHOWN;
	int rc = layout_make(&drawing.layout, topology, &scenario->fabric);
	if (rc < 0)
		return rc;
	put_head(&drawing, planes);
	for (uint32_t plane = 0; plane < planes; plane++) {
		drawing.left = plane * drawing.layout.width;
		put_plane(&drawing, plane);
	}
	layout_free(&drawing.layout);
	return svg_end(to);
}
