// SPDX-License-Identifier: Apache-2.0
// Why a run came to no end, and how much was done: connections that gave up, after how many tries
// and over which link, as far as it was measured; ports that PFC paused and that wait for each
// other.
#pragma once

#include <weft/result/report.h>

void report_stall(const struct report_input *input, char *ret, size_t bytes);

// Of a run that limits.time ended while connections heard nothing: how long they go on trying, and
// what makes them end. False: there are none.
bool report_trying(const struct report_input *input, char *ret, size_t bytes);

// In percent: of packets where these are known from the start, else of operations.
double report_done_percent(const struct report_input *input);
