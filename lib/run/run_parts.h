// SPDX-License-Identifier: Apache-2.0
// What run.c has of other files: export, several processes, the table of a workload.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <weft/gpu/gpu_record.h>
#include <weft/run/call.h>
#include <weft/run/fidelity.h>
#include <weft/trace/trace_run.h>
#include <weft/world/world.h>

// What a world would run, as a set of traces.

// The work of a world that was built: the operations of its program, the collectives of its job, or
// its flows, one rank for each NIC. Release times become computations before them. -EINVAL with the
// reason where a trace cannot say it: a sample, flows that wait for others; -ENOMEM. `ret` needs
// trace_set_free() in any case.
int export_world(struct trace_set *ret, const struct world *world, struct refusal *refusal);

// A call of weft sim that is one of several: what mpirun or srun started.

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

// What a workload file holds, as a table: each collective found, and what of it is run.

// Prints one row per kind of collective (communication, group, phase, bytes).
void traces_table(FILE *to, const struct world *world);

// --record-rank: what one rank met, for weft gpu --play (weft/gpu/gpu_record.h).

struct call;

// Refuses what has no record. -EINVAL with a reason.
int record_check(struct call *call);

// After a run: writes the record into the folder of --out. -errno with a reason.
int record_write(struct call *call);

// Of a step of --fidelity model: the same, of a record that was made elsewhere. Its name has
// `rank`, the number of the GPU. -errno with a reason.
int record_keep(struct call *call, struct gpu_record *record, uint32_t rank);

// --fidelity model --record-rank: what one rank of a step of a model meets, for weft gpu --play.

// Behind the schedule: writes the record of the GPU that was asked for into the folder of --out, as
// many steps as --steps says. -errno with a reason.
int record_step(struct call *call, const struct fidelity *fidelity);
