// SPDX-License-Identifier: Apache-2.0
// A fresh arena for each test of what measures.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/measure/measure.h>

#ifndef RIG_ARENA_BYTES
#define RIG_ARENA_BYTES ((size_t)1 << 20)
#endif

static void *base;
static struct arena arena;

static int rig_open(void **)
{
	base = aligned_alloc(64, RIG_ARENA_BYTES);
	memset(base, 0, RIG_ARENA_BYTES);
	arena_init(&arena, base, RIG_ARENA_BYTES);
	return 0;
}

static int rig_close(void **)
{
	free(base);
	return 0;
}
