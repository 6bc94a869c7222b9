// SPDX-License-Identifier: Apache-2.0
// The short form of a run's table.
#pragma once

#include <weft/result/report.h>

void brief_table(FILE *to, const struct report_input *input);
