// SPDX-License-Identifier: Apache-2.0
// What the short form says in words: the traffic, a step, and what a reader must know first. In the
// `headline` of result.json, which is there.
#pragma once

#include <jansson.h>
#include <weft/result/report.h>

void brief_what_json(json_t *root, const struct report_input *input);
