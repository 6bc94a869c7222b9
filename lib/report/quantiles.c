// SPDX-License-Identifier: Apache-2.0
// See quantiles.h. The rules are those of latencies, figures.c.

#include "quantiles.h"

#include <stdio.h>

#include "figures.h"
#include "put.h"

void quantiles_json(json_t *to, const struct hist *hist, const char *unit, bool is_sample,
		    const char *none)
{
	struct latency values;
	latency_of(&values, hist, is_sample);
	const struct {
		const char *name;
		const struct figure *figure;
	} rows[] = {{"min", &values.min_ns}, {"mean", &values.mean_ns}, {"p50", &values.p50_ns},
		    {"p95", &values.p95_ns}, {"p99", &values.p99_ns},	{"p999", &values.p999_ns},
		    {"max", &values.max_ns}};
	put_count(to, "count", hist->total);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char key[48];
		snprintf(key, sizeof(key), "%s_%s", rows[i].name, unit);
		if (hist->total == 0)
			put_reason(to, key, none);
		else
			put_figure(to, key, rows[i].figure);
	}
}
