// SPDX-License-Identifier: Apache-2.0
// Orders for qsort().
#pragma once

#include <stdint.h>

// Below, at or above 0 as `a` comes before, with or after `b`; ORDER(a->x, b->x) ?: ORDER(a->y,
// b->y) is the order by x, and by y where x is the same.
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static inline int order_double(const void *a, const void *b)
{
	return ORDER(*(const double *)a, *(const double *)b);
}

static inline int order_int64(const void *a, const void *b)
{
	return ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

static inline int order_uint32(const void *a, const void *b)
{
	return ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}
