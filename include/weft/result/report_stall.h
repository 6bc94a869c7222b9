// SPDX-License-Identifier: Apache-2.0
// Why a run stalled: connections that gave up, after how many tries and over which link, as far as
// it was measured, and how much was done.
#pragma once

#include <weft/result/report.h>

void report_stall(const struct report_input *input, char *ret, size_t bytes);
