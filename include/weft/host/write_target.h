// SPDX-License-Identifier: Apache-2.0
// The stretches that receives of a program land in. See world_write_target.h.
#pragma once

#include <weft/workload/program.h>

// A place order whose message did not come over the fabric: `va` is the receive. Reported when all
// of its bytes are there.
#define RKEY_MOVED UINT32_MAX

struct write_target {
	uint64_t *va;	    // [ops] of a receive
	uint32_t *receives; // rank after rank, in the order of their addresses
	uint64_t *first;    // [ranks + 1] in receives
	uint32_t *rank_of;  // [nics]; OP_NONE: none
	uint64_t *end;	    // [ranks] bytes that land there
	uint32_t moves_max; // place orders of messages inside a host that one call may leave
};
