// SPDX-License-Identifier: Apache-2.0
// A program as GOAL text (see weft/workload/workload_goal.h for the words).

#include <weft/trace/trace_run.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/core/check.h>

static void put_op(FILE *to, const struct op *op, uint32_t label, ps_t unit_ps)
{
	switch (op->kind) {
	case OP_COMPUTE:
		fprintf(to, "l%u: calc %lld cpu %u\n", label,
			(long long)((op->compute_ps + unit_ps / 2) / unit_ps), op->stream);
		return;
	case OP_SEND:
		fprintf(to, "l%u: send %ub to %u tag %u\n", label, op->bytes, op->peer, op->tag);
		return;
	default:
		fprintf(to, "l%u: recv %ub from %u tag %u\n", label, op->bytes, op->peer, op->tag);
	}
}

// Labels are numbers of operations in the program.
static void put_rank(FILE *to, const struct program *program, uint32_t rank, const uint32_t *ops,
		     uint32_t count, ps_t unit_ps)
{
	fprintf(to, "\nrank %u {\n", rank);
	for (uint32_t i = 0; i < count; i++)
		put_op(to, &program->ops[ops[i]], ops[i], unit_ps);
	for (uint32_t i = 0; i < count; i++) {
		const struct op *op = &program->ops[ops[i]];
		for (uint32_t k = 0; k < op->next_count; k++)
			fprintf(to, "l%u requires l%u\n", program->next[op->next_first + k],
				ops[i]);
	}
	fputs("}\n", to);
}

// Operations by rank: those of rank r are ret[first[r] .. first[r + 1]).
static void by_rank(const struct program *program, uint32_t *first, uint32_t *ret)
{
	for (uint32_t i = 0; i < program->op_count; i++)
		first[program->ops[i].rank + 1]++;
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		first[rank + 1] += first[rank];
	for (uint32_t i = program->op_count; i-- > 0;)
		ret[--first[program->ops[i].rank + 1]] = i;
}

int trace_goal_text(char **ret_text, size_t *ret_bytes, const struct program *program, ps_t unit_ps)
{
	check(program->is_sealed && unit_ps > 0);
	check(program->job == NULL && "GOAL has no word for collectives");
	// first[] is shifted by one while it is filled, see wait.c
	uint32_t *first = calloc((size_t)program->ranks + 2, sizeof(*first));
	uint32_t *ops = calloc((size_t)program->op_count + 1, sizeof(*ops));
	FILE *to = open_memstream(ret_text, ret_bytes);
	int rc = first == NULL || ops == NULL || to == NULL ? -ENOMEM : 0;
	if (rc == 0) {
		by_rank(program, first, ops);
		first[program->ranks + 1] = program->op_count;
		fprintf(to, "num_ranks %u\n", program->ranks);
		for (uint32_t rank = 0; rank < program->ranks; rank++)
			put_rank(to, program, rank, ops + first[rank + 1],
				 first[rank + 2] - first[rank + 1], unit_ps);
	}
	if (to != NULL && fclose(to) != 0)
		rc = -ENOMEM;
	if (rc < 0 && to != NULL)
		free(*ret_text);
	free(first);
	free(ops);
	return rc;
}
