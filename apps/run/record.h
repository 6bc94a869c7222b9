// SPDX-License-Identifier: Apache-2.0
// --record-rank: what one rank met, for weft gpu --play (weft/gpu_record.h).
#pragma once

struct call;

// Refuses what has no record. -EINVAL with a reason.
int record_check(struct call *call);

// After a run: writes the record into the folder of --out. -errno with a reason.
int record_write(struct call *call);
