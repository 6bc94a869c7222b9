// SPDX-License-Identifier: Apache-2.0
// Where the switches of a plane stand in a picture, and which of them are drawn.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/fabric/fabric.h>

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

// -ENOMEM. layout_free() gives the memory back.
int layout_make(struct layout *ret, const struct topology *topology,
		const struct fabric_config *config);

void layout_free(struct layout *layout);
