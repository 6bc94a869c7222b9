// SPDX-License-Identifier: Apache-2.0
// Packet sequence numbers are 24 bits and wrap. Inside the endpoint they are running 32-bit
// numbers; on the packet 24 bits.
#pragma once

#include <stdint.h>

#define PSN_MASK 0xffffffu

// The running number nearest to `near` whose low 24 bits are `psn`.
static inline uint32_t psn_extend(uint32_t near, uint32_t psn)
{
	uint32_t delta = (psn - near) & PSN_MASK;
	return delta < 0x800000u ? near + delta : near + delta - 0x1000000u;
}

// a - b as a signed distance of running numbers.
static inline int32_t psn_distance(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}
