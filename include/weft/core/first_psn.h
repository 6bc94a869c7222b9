// SPDX-License-Identifier: Apache-2.0
// The PSN that a connection starts with.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/rng.h>

struct first_psn {
	uint32_t at;   // of every connection, or added to what is drawn; 24 bits
	bool is_drawn; // by seed and connection
	uint64_t seed;
};

// Of a connection that the two numbers name, the same at both its ends.
static inline uint32_t first_psn_of(const struct first_psn *first, uint64_t a, uint64_t b)
{
	uint64_t dice = first->is_drawn
		? rng_mix(rng_mix(first->seed ^ UINT64_C(0x50534e)) ^ rng_mix(a << 32 ^ b))
		: 0;
	return (first->at + (uint32_t)dice) & 0xffffff;
}
