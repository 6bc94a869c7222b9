// SPDX-License-Identifier: Apache-2.0
// Between the reader of a traffic matrix (matrix.c) and what its triggers mean (matrix_trigger.c).
#pragma once

#include <weft/workload/workload_flow.h>

#include "lines.h"

enum matrix_key {
	MATRIX_ID,
	MATRIX_START,
	MATRIX_SIZE,
	MATRIX_TRIGGER,
	MATRIX_SENT,
	MATRIX_RECEIVED,
	MATRIX_COUNT
};

extern const char *const matrix_key_names[MATRIX_COUNT];

// What `needed` of a trigger is until all flows are known.
#define MATRIX_NEEDS_ONE 1
#define MATRIX_NEEDS_ALL UINT32_MAX

// Ids that were read so far, each with its line.
struct matrix_ids {
	uint64_t *slots; // line << 32 | id; 0 = empty; drawn with the first id
	uint64_t mask;
};

// -EEXIST when the id is there, with the line where in *ret_first; -ENOMEM. Of `flows` ids at most.
int matrix_ids_add(struct matrix_ids *ids, struct arena *arena, uint32_t flows, uint32_t id,
		   uint32_t line, uint32_t *ret_first);

// Gives each trigger its flows, and how often it must fire; refuses oneshots that are not fired by
// one flow, barriers with another count than of flows that fire them, multishots that several NICs
// fire, and flows that would wait for ever: -EINVAL with the place in the text. -ENOMEM.
int matrix_settle(struct matrix *matrix, struct arena *arena, const char *text, size_t bytes,
		  struct refusal *refusal);
