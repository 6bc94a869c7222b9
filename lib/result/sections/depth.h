// SPDX-License-Identifier: Apache-2.0
// How deep the queues of switches were, with watch.links: as data that had to wait found them, and
// over time.
#pragma once

#include <jansson.h>
#include <weft/result/report.h>

#define DEPTHS_WORST 8u // ports whose depth over time is listed

// The `depths` and `depth_series` of `links` in result.json.
void depths_json(json_t *to, const struct report_input *input);
