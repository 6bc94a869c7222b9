// SPDX-License-Identifier: Apache-2.0
// The faults of the scenario as result.json lists them: what the run was put to.
#pragma once

#include <jansson.h>
#include <weft/result/report.h>

void faults_json(json_t *root, const struct report_input *input);

#define FAULT_PLACE_BYTES 64

// "nic 3 plane 0", "t0 1 plane 2 up 5", "all"; returns `ret`.
const char *fault_place_text(char ret[FAULT_PLACE_BYTES], const struct link_location *place);
