// SPDX-License-Identifier: Apache-2.0
// The messages of a capture as traffic of a scenario.
#pragma once

#include "messages.h"

// Whether a matrix of htsim can say them: no QP carries two, so that no message shares another's
// state. Else they are a GOAL program, where a pair has its QP all the time.
bool program_is_matrix(const struct messages *messages);

// Writes them into a file, each to begin when it did, counted from the first. A fabric may have
// more NICs than there are nodes: `nics`, or 0. -errno with a reason.
int program_write(const struct messages *messages, uint32_t nics, const char *path,
		  struct refusal *refusal);
