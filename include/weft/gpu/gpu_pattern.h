// SPDX-License-Identifier: Apache-2.0
// Values of gradients that anybody can work out: element `index` of rank `rank` in step `step` is a
// whole number from 1 to 128, exact in BF16, that depends on all four; the sum over ranks has a
// closed form, and is rounded once where BF16 cannot hold it. So each part that a rank gets, and
// each sum, can be checked without the others' data, and an element at a wrong place is wrong.
// The same text is compiled for the host and for devices.
#pragma once

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define GPU_BOTH static inline __host__ __device__
#else
#define GPU_BOTH static inline
#endif

#define GPU_PATTERN_VALUES 128u
#define GPU_PATTERN_GROUP 8u // elements whose dice come from one hash

// SplitMix64's finaliser, as rng_mix().
GPU_BOTH uint64_t gpu_pattern_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

// Dice of elements 8 * group to 8 * group + 7, a byte each.
GPU_BOTH uint64_t gpu_pattern_dice(uint64_t seed, uint32_t step, uint64_t group)
{
	return gpu_pattern_mix(seed + 0x9e3779b97f4a7c15u * (group + ((uint64_t)step << 40)));
}

GPU_BOTH uint32_t gpu_pattern_die(uint64_t dice, uint32_t at)
{
	return (uint32_t)(dice >> (8 * at)) % GPU_PATTERN_VALUES;
}

GPU_BOTH uint32_t gpu_pattern_value(uint32_t die, uint32_t rank)
{
	return 1 + (die + rank) % GPU_PATTERN_VALUES;
}

// Over ranks 0 to ranks - 1: whole turns through all values, and the rest, which may wrap once.
GPU_BOTH uint64_t gpu_pattern_sum(uint32_t die, uint32_t ranks)
{
	uint64_t turns = ranks / GPU_PATTERN_VALUES, rest = ranks % GPU_PATTERN_VALUES;
	uint64_t wrapped = die + rest > GPU_PATTERN_VALUES ? die + rest - GPU_PATTERN_VALUES : 0;
	uint64_t turn = GPU_PATTERN_VALUES * (GPU_PATTERN_VALUES - 1) / 2;
	return ranks + turns * turn + rest * die + (rest > 0 ? rest * (rest - 1) / 2 : 0) -
		wrapped * GPU_PATTERN_VALUES;
}

// BF16 is the upper half of FP32; ties go to the even neighbour.
GPU_BOTH uint16_t gpu_bf16_of(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

GPU_BOTH float gpu_bf16_value(uint16_t half)
{
	uint32_t bits = (uint32_t)half << 16;
	float value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}
