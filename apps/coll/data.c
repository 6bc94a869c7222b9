// SPDX-License-Identifier: Apache-2.0
// A ring with credits, as messages that carry data. See coll.h.

#include <errno.h>

#include <weft/workload/workload_ring.h>

#include "coll.h"

#define JOB_BYTES(ranks) ((size_t)(ranks)*8 + 8192)

static int make(struct call *call, const struct measured *row, struct arena *arena,
		struct ring_messages *of, struct job *job)
{
	const struct scenario *scenario = &call->scenario;
	return job_from_ring(job, arena, (enum collective_kind)call->kind, row->bytes_run,
			     scenario->fabric.nics_per_host, of->config, &call->refusal);
}

int data_scenario(struct call *call, const struct measured *row, struct data *ret)
{
	struct traffic_config *traffic = &call->scenario.traffic;
	const struct group all = {.ranks = traffic->ring.ranks};
	struct ring_messages of = {.config = &traffic->ring,
				   .group = &all,
				   .kind = (enum collective_kind)call->kind,
				   .bytes = row->bytes_run,
				   .has_data = true};
	struct program *program;
	struct arena arena;
	struct job job;
	*ret = (struct data){0};
	if (!ring_has_whole_elements(of.config, row->bytes_run, call->type->bytes))
		return refuse(
			&call->refusal, -EINVAL,
			"-c 1: % bytes over % ranks and % channels are not whole elements each",
			(int64_t)row->bytes_run, traffic->ring.ranks, traffic->ring.channels);
	size_t bytes = (ring_program_bytes(&of) + JOB_BYTES(all.ranks) + 63) & ~(size_t)63;
	ret->memory = memory_reserve(bytes);
	if (ret->memory == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for data");
	ret->bytes = bytes;
	arena_init(&arena, ret->memory, bytes);
	int rc = make(call, row, &arena, &of, &job);
	if (rc < 0)
		return rc;
	of.group = &job.groups[0];
	rc = ring_program(&program, &arena, &of, &call->refusal);
	if (rc < 0)
		return rc;
	traffic->kind = TRAFFIC_GOAL; // which a program that is given runs as
	traffic->program = program;
	return 0;
}

void data_free(struct data *data)
{
	if (data->memory != NULL)
		memory_release(data->memory, data->bytes);
}
