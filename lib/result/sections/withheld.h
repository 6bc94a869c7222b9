// SPDX-License-Identifier: Apache-2.0
// Hosts in wall time: what each reported, and figures that they alone cannot give, of switches and
// cables between them and of hosts that reported nothing.
#pragma once

#include <jansson.h>

#include <weft/result/report.h>

// Puts the part "wall" into a document that is whole otherwise, and sets these figures to null,
// each with its reason. Nothing where the fabric is weft's.
void withheld_json(json_t *root, const struct report_input *input);
