// SPDX-License-Identifier: Apache-2.0
// Packets that were lost, by reason, and what cables did to others, as result.json has it.
#pragma once

#include <jansson.h>
#include <weft/result/report.h>

void drops_json(json_t *root, const struct report_input *input);
