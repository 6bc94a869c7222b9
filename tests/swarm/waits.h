// SPDX-License-Identifier: Apache-2.0
// How long a packet waits for its acknowledgement before each try: some times the same, then twice
// as long each time.
#pragma once

#include <stdint.h>

struct waits {
	uint32_t rto_us, rto_linear, rto_doublings;
};

// The n-th wait of a packet, from 0.
static uint64_t wait_us(const struct waits *waits, uint32_t n)
{
	uint32_t doublings = n < waits->rto_linear ? 0 : n - waits->rto_linear + 1;
	return (uint64_t)waits->rto_us << doublings;
}
