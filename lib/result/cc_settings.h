// SPDX-License-Identifier: Apache-2.0
// NSCC's parameters as they were in force, in result.json: by the names and in the units of the MRC
// controller structure (mrc_ctl.h), so that they can be handed to a controller as they stand.
#pragma once

#include <jansson.h>

#include <weft/result/report.h>

// Adds object `mrc_ctl` to `root`, nothing where another algorithm ran.
void cc_settings_json(json_t *root, const struct report_input *input);
