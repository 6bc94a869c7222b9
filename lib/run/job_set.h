// SPDX-License-Identifier: Apache-2.0
// Several jobs on one fabric (traffic.kind jobs): their files, and the runs of each alone on the
// NICs that it has with the others.
#pragma once

#include <weft/run/call.h>

// Reads the files of jobs that have one, for the scenario in hand. Nothing for other traffic.
// -errno with file, line and reason, or the job's line.
int job_set_read(struct call *call);

// Gives back what was read.
void job_set_free(struct call *call);

// Runs each job alone, as variant `variant` of the scenario (0: as it is), and writes down what it
// took; then reads the scenario again as it was. Nothing where one job runs. -errno with a reason.
int job_set_alone(struct call *call, uint32_t variant);
