// SPDX-License-Identifier: Apache-2.0
// What AICB's CSV says of ranks: sections, each the lines of some of them, and messages along the
// pipeline. aicb.c reads lines as nodes of one rank; aicb_deal.c gives each rank its own.
#pragma once

#include "set.h"

#define AICB_STAGES_MAX 1024u

// In trace_node.peer of a message without a rank: the stage after this one, or before it.
#define AICB_PEER_NEXT (UINT32_MAX - 1)
#define AICB_PEER_PREVIOUS (UINT32_MAX - 2)
// In trace_node.tag of a message: of the backward pass.
#define AICB_BACKWARD 1u

struct aicb_section {
	uint32_t *ranks; // [count] of the job, in the order of the file; owned
	uint32_t count;
	uint32_t line;	       // of the file
	uint32_t first, nodes; // its lines, as nodes of the file's first rank
};

// Gives each rank the lines of its section. Without sections, of a file with messages whose ranks
// are given, the stages are blocks of tensor times data ranks, and a message is of the stage whose
// neighbour it names. Nothing in other files. -EINVAL with line and reason, -ENOMEM.
int aicb_deal(struct trace_input *input, const struct aicb_section *sections, uint32_t count);
