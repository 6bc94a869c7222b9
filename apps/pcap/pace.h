// SPDX-License-Identifier: Apache-2.0
// How fast, and how often, a capture's packets are sent again: --speed, --drift and --loops.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pace {
	double speed; // of the stamps; pace_settle() takes their drift out of it
	double drift_ppm;
	uint32_t loops;
	bool is_given; // one of the options
};

#define PACE_DEFAULT \
	{ \
		.speed = 1, .loops = 1 \
	}

void pace_settle(struct pace *pace);
