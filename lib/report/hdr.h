// SPDX-License-Identifier: Apache-2.0
// Histograms as text in HdrHistogram's percentile distribution format, readable by its plotters.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/report.h>

// One per pair class, then these.
enum hdr_index { HDR_FLOW = PAIR_CLASS_COUNT, HDR_LATENESS, HDR_GAP, HDR_COUNT };

#define HDR_NAME_BYTES 40

// The histogram behind file `index`; NULL when the run had none.
const struct hist *hdr_hist(const struct report_input *input, uint32_t index);

// Whether there is something to write to file `index`.
bool hdr_has_values(const struct report_input *input, uint32_t index);

// "message_same_rack.hdr", ..., "flow.hdr", "lateness_ns.hdr", "gap_ns.hdr"; returns `ret`.
const char *hdr_name(uint32_t index, char ret[HDR_NAME_BYTES]);

// Writes file `index`; values are in microseconds, those of lateness_ns.hdr and gap_ns.hdr in
// nanoseconds. Of a sample only the percentiles that it can give.
void hdr_write(FILE *to, const struct report_input *input, uint32_t index);
