// SPDX-License-Identifier: Apache-2.0
// Generators on the time line of a run (perfetto.h): their computations on the device, as the hosts
// saw them, and by the model, each view a process, each rank two tracks: computations, and sums. A
// step holds its computations, and each what was waited before it.
#pragma once

#include <stdio.h>

#include <weft/result/report.h>

// Behind other events. Writes up to PERFETTO_SPANS_MAX spans; returns how many it left out. `to`
// may be NULL: they are counted.
uint32_t perfetto_gpu_write(FILE *to, const struct report_gpu *gpu);
