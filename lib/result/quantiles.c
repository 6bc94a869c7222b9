// SPDX-License-Identifier: Apache-2.0
// See sections.h. The rules are those of latencies, figures.c.

#include "sections/sections.h"

#include <stdio.h>
#include <string.h>

#include <weft/result/latency_table.h>
#include <weft/result/put.h>

// "p99_ns" as "p99_ps" where that is the unit; NULL behind the last quantile.
static const struct latency_row *key_at(char ret[48], uint32_t *at, const char *unit)
{
	const struct latency_row *row;
	while ((row = latency_row_at((*at)++)) != NULL && row->kind != LATENCY_VALUE)
		;
	if (row != NULL)
		snprintf(ret, 48, "%.*s_%s", (int)(strlen(row->key) - strlen("_ns")), row->key,
			 unit);
	return row;
}

void quantiles_none_json(json_t *to, uint64_t count, const char *unit, const char *reason)
{
	put_count(to, "count", count);
	char key[48];
	for (uint32_t at = 0; key_at(key, &at, unit) != NULL;)
		put_reason(to, key, reason);
}

void quantiles_json(json_t *to, const struct hist *hist, const char *unit, bool is_sample,
		    const char *none)
{
	const struct latency_row *row;
	struct latency values;
	char key[48];
	if (hist->total == 0) {
		quantiles_none_json(to, 0, unit, none);
		return;
	}
	latency_of(&values, hist, is_sample);
	put_count(to, "count", hist->total);
	for (uint32_t at = 0; (row = key_at(key, &at, unit)) != NULL;)
		put_figure(to, key, latency_figure(&values, row));
}
