// SPDX-License-Identifier: Apache-2.0
// How fast, and how often, a capture's packets are sent again: --speed, --drift and --loops.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>

struct pace {
	const char *speed_text, *drift_text, *loops_text; // as given, or NULL
	double speed;					  // of the stamps, their drift taken out
	uint32_t loops;
};

// Where the words of an option go, "--speed" say; NULL: it is none of these.
const char **pace_word(struct pace *pace, const char *option);

// Makes numbers of the words. -EINVAL with a reason.
int pace_read(struct pace *pace, struct refusal *refusal);
