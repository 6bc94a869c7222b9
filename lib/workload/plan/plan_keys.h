// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weft/workload/plan_edit.h>

// Which unit part `index` of a cell is of: 0 what is before the layers, then each layer, then what
// is behind them.
uint32_t plan_part_unit(const struct plan *plan, uint32_t stage, uint32_t chunk, uint32_t index);

// Holds each size against its limits; the first part of plan_check(). `ret_size`: the last one that
// was looked at.
int plan_check_sizes(const struct plan *plan, const char **ret_size, struct refusal *refusal);
