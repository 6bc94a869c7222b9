// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weft/workload/plan.h>

// Holds each size against its limits; the first part of plan_check(). `ret_size`: the last one that
// was looked at.
int plan_check_sizes(const struct plan *plan, const char **ret_size, struct refusal *refusal);
