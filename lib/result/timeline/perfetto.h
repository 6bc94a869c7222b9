// SPDX-License-Identifier: Apache-2.0
// A run on one time line, for Perfetto and other readers of the Trace Event Format: faults, jobs,
// collectives by stage and group, operations of ranks, flows of NICs. Virtual time, in us.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <weft/result/report.h>

#define PERFETTO_SPANS_MAX 200000u // of a file; the first ones of each kind are kept

// Spans of one track do not cross: of two that meet, one holds the other. Returns 0, -ENOMEM or
// -EIO.
int perfetto_write(FILE *to, const struct report_input *input);
