// SPDX-License-Identifier: Apache-2.0
// A result as OpenMetrics and as CSV.
#pragma once

#include <stdio.h>

#include <jansson.h>

// All figures of the result, one a line, with their labels: OpenMetrics text, and CSV (RFC 4180)
// with the columns field, where, value, unit, reason. What could not be measured has its reason,
// and no number. -EIO.
int metrics_write(FILE *to, const json_t *result);
int metrics_csv(FILE *to, const json_t *result);
