// SPDX-License-Identifier: Apache-2.0
// --record-rank: what one rank met, for weft gpu --play (weft/gpu/gpu_record.h).
#pragma once

#include <stdint.h>

#include <weft/gpu/gpu_record.h>
#include <weft/run/fidelity.h>

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
