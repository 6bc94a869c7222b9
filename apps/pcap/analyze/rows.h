// SPDX-License-Identifier: Apache-2.0
// A list of the report as CSV.
#pragma once

#include "pcap.h"

// Whether --rows knows the name.
bool rows_has(const char *name);

// A line with the names of the fields, and one for each row of the list call->rows; of streams if
// it is NULL.
void rows_print(FILE *to, const struct call *call);
