// SPDX-License-Identifier: Apache-2.0
// A call of weft sim that is one of several: what mpirun or srun started.
#pragma once

#include <weft/run/call.h>

// Where a launcher started several processes: joins the others. A program without MPI becomes
// weft-sim-mpi, which lies beside it. -errno with a reason; without a launcher nothing is done.
int ranks_join(struct call *call, char **argv);

// Refuses what several processes cannot do.
int ranks_check(struct call *call);

// Whether all processes may go on; the same answer for all, with the reason of the first that was
// refused.
int ranks_may_run(struct call *call, int rc);

// The exit status of all: the first process's. Leaves the others.
int ranks_leave(struct call *call, int status);
