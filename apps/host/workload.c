// SPDX-License-Identifier: Apache-2.0
// Files that traffic stands in: a matrix, GOAL text, a trace, those of several jobs. All hosts have
// the same.

#include <errno.h>
#include <string.h>

#include <weft/files/files.h>

#include "host.h"

// Who takes part in the collectives of a program.
static void hash_groups(struct call *call, const struct job *job)
{
	for (uint32_t i = 0; i < job->group_count; i++)
		setup_hash(call, job->groups[i].gpus,
			   job->groups[i].ranks * sizeof(*job->groups[i].gpus));
	for (uint32_t i = 0; i < job->bucket_count; i++) {
		const struct bucket *bucket = &job->buckets[i];
		const uint64_t what[] = {bucket->kind, bucket->bytes};
		setup_hash(call, what, sizeof(what));
	}
}

// What a file became.
static void hash_program(struct call *call, const struct program *program)
{
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		const uint64_t head[] = {op->kind, op->is_sum, op->stream, op->rank, op->waits_for};
		const uint64_t send[] = {op->peer, op->tag, op->bytes, op->offset};
		const uint64_t collective[] = {op->group, op->at, op->bucket};
		setup_hash(call, head, sizeof(head));
		if (op->kind == OP_COMPUTE)
			setup_hash(call, &op->compute_ps, sizeof(op->compute_ps));
		else if (op->kind == OP_COLLECTIVE)
			setup_hash(call, collective, sizeof(collective));
		else
			setup_hash(call, send, sizeof(send));
	}
	setup_hash(call, program->edge_from, program->edge_count * sizeof(*program->edge_from));
	setup_hash(call, program->edge_to, program->edge_count * sizeof(*program->edge_to));
	if (program->job != NULL)
		hash_groups(call, program->job);
}

static int read_jobs(struct call *call)
{
	struct scenario *scenario = &call->scenario;
	int rc = job_set_read(call->job_files, scenario, &call->refusal);
	for (uint32_t i = 0; rc == 0 && i < scenario->job_count; i++)
		if (scenario->jobs[i].program != NULL)
			hash_program(call, scenario->jobs[i].program);
	return rc;
}

int setup_workload(struct call *call)
{
	struct workload *workload = &call->workload;
	struct traffic_config *traffic = &call->scenario.traffic;
	const char *file = workload_file(traffic);
	char path[2 * SCENARIO_PATH_BYTES];
	uint32_t nics;
	if (file == NULL)
		return read_jobs(call);
	if (file[0] == '\0')
		return refuse(
			&call->refusal, -EINVAL,
			"this scenario runs a trace, and names none: --set traffic.trace=FILE");
	file_beside(call->scenario.path, file, path, sizeof(path));
	workload->memory_bytes_max = call->scenario.memory_bytes_max;
	int rc = workload_read(workload, (enum traffic_kind)traffic->kind, path, &nics,
			       &call->refusal);
	if (rc == 0)
		rc = workload_expand(workload, &call->scenario, &call->refusal);
	if (rc == 0 && workload->text != NULL)
		setup_hash(call, workload->text, workload->bytes);
	if (rc == 0 && traffic->program != NULL)
		hash_program(call, traffic->program);
	return rc;
}
