// SPDX-License-Identifier: Apache-2.0
// A histogram as fields of result.json.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <weft/measure/measure.h>

// `count`, then `min_UNIT`, `mean_UNIT`, `p50_UNIT`, `p95_UNIT`, `p99_UNIT`, `p999_UNIT` and
// `max_UNIT`; null where a sample cannot give them, or, for the reason `none`, when there are no
// values.
void quantiles_json(json_t *to, const struct hist *hist, const char *unit, bool is_sample,
		    const char *none);

// The same of `count` values that do not say it, for `reason`.
void quantiles_none_json(json_t *to, uint64_t count, const char *unit, const char *reason);
