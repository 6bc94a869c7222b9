// SPDX-License-Identifier: Apache-2.0
// What check() says beside file and line.
#pragma once

#include <stdint.h>

#include <weft/core/time.h>

struct stop_place {
	uint64_t seed;
	const ps_t *now_ps; // the driver's time; NULL before a run
};

void stop_place_set(const struct stop_place *where);
