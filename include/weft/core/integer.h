// SPDX-License-Identifier: Apache-2.0
// Whole numbers.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The first of least, 2 least, 4 least, ... that is not below `count`.
static inline uint32_t power_of_two(uint32_t least, uint32_t count)
{
	uint32_t power = least;
	while (power < count)
		power *= 2;
	return power;
}

static inline bool is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

// The largest root with root^2 <= value, by bits from the top.
static inline uint64_t square_root(unsigned __int128 value)
{
	uint64_t root = 0;
	for (int bit = 63; bit >= 0; bit--) {
		uint64_t more = root | UINT64_C(1) << bit;
		if ((unsigned __int128)more * more <= value)
			root = more;
	}
	return root;
}

static inline uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}
