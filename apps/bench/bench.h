// SPDX-License-Identifier: Apache-2.0
// What the files of weft bench share: options, and how it ends.
#pragma once

#include <stdbool.h>

#include <weft/refusal.h>

#include "outcome.h"

#define REPEAT_MAX 1000

struct bench_options {
	const char *scenario_name; // NULL: the default
	long repeat;		   // 0: the default
	bool is_json;
};

int say_refusal(const struct refusal *refusal, int status);

// The middle one of `count` values, which are put in order.
double median(double *values, long count);

// dpdk.c; returns an exit status.
int bench_dpdk(const struct bench_options *options);
