// SPDX-License-Identifier: Apache-2.0
// Points of Sobol's sequence (I. M. Sobol, 1967): after 2^k of them each dimension has one in each
// of 2^k equal parts. Each dimension has a primitive polynomial of its own; the first direction
// numbers, which are free but for being odd, and a digital shift are drawn.

#include "inside.h"

#include <weft/core/check.h>

// Whether x is of order 2^degree - 1 modulo this polynomial over GF(2).
static bool is_primitive(uint32_t polynomial, uint32_t degree)
{
	uint32_t x = 1, order = 0;
	do {
		x <<= 1;
		if (x >> degree & 1)
			x ^= polynomial;
		order++;
	} while (x != 1 && x != 0 && order < UINT32_C(1) << degree);
	return x == 1 && order == (UINT32_C(1) << degree) - 1;
}

static uint32_t next_primitive(uint32_t polynomial)
{
	for (;;) {
		uint32_t degree = 31 - (uint32_t)__builtin_clz(++polynomial);
		if (is_primitive(polynomial, degree))
			return polynomial;
	}
}

void sobol_init(struct sobol *ret, uint32_t dimensions, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_TUNE, 3);
	uint32_t polynomial = 2;
	check(dimensions <= SOBOL_DIMENSIONS_MAX);
	*ret = (struct sobol){.dimensions = dimensions};
	for (uint32_t i = 0; i < dimensions; i++) {
		uint32_t *v = ret->directions[i], degree = 0;
		ret->shift[i] = (uint32_t)(rng_next(&rng) >> 32);
		if (i > 0) {
			polynomial = next_primitive(polynomial);
			degree = 31 - (uint32_t)__builtin_clz(polynomial);
		}
		for (uint32_t k = 0; k < 32; k++) {
			if (i == 0 || k < degree) { // 0.m in binary, m odd
				uint32_t m = i == 0 ? 1
						    : rng_below(&rng, UINT32_C(1) << k) << 1 | 1;
				v[k] = m << (31 - k);
				continue;
			}
			v[k] = v[k - degree] ^ v[k - degree] >> degree;
			for (uint32_t j = 1; j < degree; j++)
				if (polynomial >> (degree - j) & 1)
					v[k] ^= v[k - j];
		}
	}
}

void sobol_point(const struct sobol *sobol, uint32_t index, double *ret)
{
	for (uint32_t i = 0; i < sobol->dimensions; i++) {
		uint32_t x = sobol->shift[i];
		for (uint32_t k = 0; k < 32; k++)
			if (index >> k & 1)
				x ^= sobol->directions[i][k];
		ret[i] = x * 0x1p-32;
	}
}
