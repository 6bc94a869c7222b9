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

// Generators on the time line of a run (perfetto.h): their computations on the device, as the hosts
// saw them, and by the model, each view a process, each rank two tracks: computations, and sums. A
// step holds its computations, and each what was waited before it.

// Behind other events. Writes up to PERFETTO_SPANS_MAX spans; returns how many it left out. `to`
// may be NULL: they are counted.
uint32_t perfetto_gpu_write(FILE *to, const struct report_gpu *gpu);
