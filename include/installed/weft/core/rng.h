// SPDX-License-Identifier: Apache-2.0
// Random streams. Each port, cable, QP and fault owns one, named by (seed, kind, id), never shared:
// no order of execution can change the dice. The generator is SplitMix64 (Steele, Lea, Flood: "Fast
// splittable pseudorandom number generators", 2014).
#pragma once

#include <stdint.h>

enum rng_kind {
	RNG_PORT,
	RNG_CABLE,
	RNG_QP,
	RNG_FAULT,
	RNG_SWITCH,
	RNG_WORKLOAD,
	RNG_TEST,
	RNG_PROFILE,
	RNG_SPRAY,
	RNG_CREDIT,
	RNG_TUNE
};

struct rng {
	uint64_t state;
};

// Mixes 64 bits so that each input bit reaches each output bit (SplitMix64's finaliser).
static inline uint64_t rng_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

// The stream of one owner.
static inline struct rng rng_of(uint64_t seed, enum rng_kind kind, uint64_t id)
{
	struct rng rng = {rng_mix(rng_mix(seed + UINT64_C(0x9e3779b97f4a7c15)) ^
				  ((uint64_t)kind << 56 ^ id))};
	return rng;
}

// The next 64 bits.
static inline uint64_t rng_next(struct rng *rng)
{
	rng->state += UINT64_C(0x9e3779b97f4a7c15);
	return rng_mix(rng->state);
}

// Uniform in [0, bound), bound not zero; multiply-shift, bias below bound / 2^32.
static inline uint32_t rng_below(struct rng *rng, uint32_t bound)
{
	return (uint32_t)(((rng_next(rng) >> 32) * bound) >> 32);
}
