// SPDX-License-Identifier: Apache-2.0
// Histograms as text in HdrHistogram's percentile distribution format, readable by its plotters.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <weft/report.h>

#define HDR_COUNT (PAIR_CLASS_COUNT + 1) // one per pair class, one of the flows
#define HDR_NAME_BYTES 40

// The histogram behind file `index`.
const struct hist *hdr_hist(const struct report_input *input, uint32_t index);

// "message_same_rack.hdr", ..., "flow.hdr"; returns `ret`.
const char *hdr_name(uint32_t index, char ret[HDR_NAME_BYTES]);

// Writes file `index`; values are in microseconds. Of a sample only the percentiles that it can
// give.
void hdr_write(FILE *to, const struct report_input *input, uint32_t index);
