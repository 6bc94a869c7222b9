// SPDX-License-Identifier: Apache-2.0
// See quantiles.h. The rules are those of latencies, figures.c.

#include "quantiles.h"

#include <stdio.h>

#include <weft/result/figures.h>
#include <weft/result/put.h>

static const char *const names[] = {"min", "mean", "p50", "p95", "p99", "p999", "max"};
#define NAMES (sizeof(names) / sizeof(*names))

void quantiles_none_json(json_t *to, uint64_t count, const char *unit, const char *reason)
{
	put_count(to, "count", count);
	for (size_t i = 0; i < NAMES; i++) {
		char key[48];
		snprintf(key, sizeof(key), "%s_%s", names[i], unit);
		put_reason(to, key, reason);
	}
}

void quantiles_json(json_t *to, const struct hist *hist, const char *unit, bool is_sample,
		    const char *none)
{
	struct latency values;
	const struct figure *const figures[NAMES] = {
		&values.min_ns, &values.mean_ns, &values.p50_ns, &values.p95_ns,
		&values.p99_ns, &values.p999_ns, &values.max_ns};
	if (hist->total == 0) {
		quantiles_none_json(to, 0, unit, none);
		return;
	}
	latency_of(&values, hist, is_sample);
	put_count(to, "count", hist->total);
	for (size_t i = 0; i < NAMES; i++) {
		char key[48];
		snprintf(key, sizeof(key), "%s_%s", names[i], unit);
		put_figure(to, key, figures[i]);
	}
}
