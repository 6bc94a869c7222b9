// SPDX-License-Identifier: Apache-2.0
// The order of what taps took in one window: by time, then cable, then the order in which it was
// taken.
#pragma once

#include <stdint.h>

#include <weft/core/time.h>

struct tap_key {
	ps_t at;
	uint32_t cable;
	uint32_t place; // where the record is; no part of the order
};

// Sorts `count` keys; keys of equal time and cable stay in the order they have. Uses `scratch` with
// room for as many, and returns the one of the two that holds the result.
struct tap_key *tap_sort(struct tap_key *keys, struct tap_key *scratch, uint32_t count);
