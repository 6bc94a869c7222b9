// SPDX-License-Identifier: Apache-2.0
// The entropy values (EVs) that flows have to themselves, and what flows sent by each.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include <weft/result/report.h>

// `flow_evs`: null where all flows use all EVs and none are counted.
void flow_evs_json(json_t *root, const struct world *world);

// Nothing where `flow_evs` is null.
void flow_evs_table(FILE *to, const struct world *world);

// Whether data were counted by EV (watch.evs).
bool flow_evs_are_counted(const struct world *world);

// Then, as lines of text, each EV of each flow that data left by: flow_evs.csv.
void flow_evs_write(FILE *to, const struct world *world);
