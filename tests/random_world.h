// SPDX-License-Identifier: Apache-2.0
// What tests that draw worlds from a seed share: the text of a scenario as it grows, draws, and
// numbers from the environment that choose the seeds.
#pragma once

#include "rig.h"

#define TEXT_BYTES 8192

struct text {
	char at[TEXT_BYTES];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text->at + text->used, TEXT_BYTES - text->used, format, arguments);
	va_end(arguments);
	assert_true(length >= 0 && text->used + (size_t)length < TEXT_BYTES);
	text->used += (size_t)length;
}

// Uniform in [low, high].
static uint32_t pick(struct rng *rng, uint32_t low, uint32_t high)
{
	return low + rng_below(rng, high - low + 1);
}

// One world of three has the entropy values of IPv4 frames. Drawn last: the rest stays as it was.
static void add_wire(struct text *text, struct rng *rng)
{
	if (pick(rng, 0, 2) == 0)
		add(text, "wire: {ip: 4}\n");
}

// The number in environment variable `name`, else `otherwise`.
static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text == NULL ? otherwise : strtoull(text, NULL, 10);
}
