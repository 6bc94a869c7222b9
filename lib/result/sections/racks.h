// SPDX-License-Identifier: Apache-2.0
// Latency of messages by the racks of both ends, with watch.racks.
#pragma once

#include <jansson.h>
#include <weft/result/report.h>

// The `racks` of result.json.
void racks_json(json_t *root, const struct report_input *input);
