// SPDX-License-Identifier: Apache-2.0
// --fidelity model --record-rank: what one rank of a step of a model meets, for weft gpu --play.
#pragma once

#include <weft/run/fidelity.h>

// Behind the schedule: writes the record of the GPU that was asked for into the folder of --out, as
// many steps as --steps says. -errno with a reason.
int record_step(struct call *call, const struct fidelity *fidelity);
