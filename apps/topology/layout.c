// SPDX-License-Identifier: Apache-2.0
// Rows for trees and rails (tier 0 below), a grid for a torus (layers along z side by side), a
// circle for any other graph. What would be too small to see is left out: of a long row its middle,
// of a grid what lies beyond the first rows, of a circle the last switches.

#include "layout.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

int layout_make(struct layout *ret, const struct topology *topology,
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

void layout_free(struct layout *layout)
{
	free(layout->spots);
}
