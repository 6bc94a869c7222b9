// SPDX-License-Identifier: Apache-2.0
// Figures of now beside those of an earlier call.
#pragma once

#include "figures.h"

// Reads what --json wrote. -EINVAL with a reason for anything else. The caller decrefs *ret.
int compare_read(const char *path, json_t **ret, struct refusal *refusal);

// What a difference of times may be without meaning anything, as a share: how far the median of
// each side is above its best, added up, and a tenth at least.
double compare_noise(double best_then, double median_then, double best_now, double median_now);

// A line for each case that both have, to standard output, and what only one has.
void compare_show(const json_t *then, const struct figures *figures, uint32_t count);
