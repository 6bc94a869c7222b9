// SPDX-License-Identifier: Apache-2.0
// Reads a workload file and parses it once for its errors and its size; the world parses it again
// into its own memory. See workload.h.
#include "workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/drive.h>
#include <weft/workload_goal.h>

#define WORKLOAD_BYTES_MAX ((size_t)1 << 28)

// The most memory that parsing takes: a flow of 40 bytes, and 4 to order it, needs a line of 16 or
// more; an operation of some 300 with its label, channel and order one of 7.
static size_t room_for(enum traffic_kind kind, size_t bytes)
{
	return bytes * (kind == TRAFFIC_GOAL ? 64 : 16) + ((size_t)1 << 20);
}

static int parse(enum traffic_kind kind, struct arena *arena, const struct workload *workload,
		 uint32_t *ret_nics, struct refusal *refusal)
{
	struct trace trace;
	struct matrix matrix;
	struct program *program;
	int rc;
	switch (kind) {
	case TRAFFIC_TRACE:
		rc = trace_simai_parse(&trace, arena, workload->text, workload->bytes, refusal);
		*ret_nics = rc < 0 ? 0 : trace.gpus;
		return rc;
	case TRAFFIC_GOAL: // the unit of time is not what can be wrong
		rc = goal_parse(&program, arena, workload->text, workload->bytes, 1, refusal);
		*ret_nics = rc < 0 ? 0 : program->ranks;
		return rc;
	default:
		rc = matrix_parse(&matrix, arena, workload->text, workload->bytes, refusal);
		*ret_nics = rc < 0 ? 0 : matrix.nics;
		return rc;
	}
}

int workload_read(struct workload *ret, enum traffic_kind kind, const char *path,
		  uint32_t *ret_nics, struct refusal *refusal)
{
	int rc = file_read(path, WORKLOAD_BYTES_MAX, &ret->text, &ret->bytes, refusal);
	if (rc < 0)
		return rc;
	size_t room = room_for(kind, ret->bytes);
	void *memory = memory_reserve(room);
	if (memory == NULL)
		return refuse(refusal, -ENOMEM, "the system gives no memory to read the workload",
			      0, 0, 0);
	struct arena arena;
	arena_init(&arena, memory, room);
	rc = parse(kind, &arena, ret, ret_nics, refusal);
	memory_release(memory, room);
	if (rc < 0)
		snprintf(refusal->file, sizeof(refusal->file), "%s", path);
	return rc;
}

void workload_free(struct workload *workload)
{
	free(workload->text);
	*workload = (struct workload){0};
}
