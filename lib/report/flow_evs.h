// SPDX-License-Identifier: Apache-2.0
// The entropy values (EVs) that flows have to themselves.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include <weft/report.h>

// `flow_evs`: null where all flows use all EVs.
void flow_evs_json(json_t *root, const struct world *world);

// Nothing where `flow_evs` is null.
void flow_evs_table(FILE *to, const struct world *world);
