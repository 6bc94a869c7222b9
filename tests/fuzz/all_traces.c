// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace of each format that room trace reads: it is read, counted and expanded into
// a program, or refused with a reason on one line.

#include "target.h"

#include <errno.h>

#include <weft/trace/trace_phases.h>
#include <weft/trace/trace_run.h>

#define NODES_EXPANDED_MAX 300u
#define BYTES_EXPANDED_MAX (UINT64_C(1) << 24)

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"\x07\n\x05"
	"0.0.4\x27\x08\x01\x12\x01x\x18\x07R\x0d\n\tcomm_typeH\x01R\x0d\n\tcomm_sizeH\x64"
	"\x29\x08\x02\x12\x01y\x18\x07(\x01R\x0d\n\tcomm_typeH\x02R\x0d\n\tcomm_sizeH\x64",
	"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"runtime\": 7}, {\"Id\": 2, "
	"\"NodeType\": 7, \"data_deps\": [1], \"comm_type\": 0, \"comm_size\": 64}]}",
	"{\"nodes\": [{\"id\": 2, \"name\": \"record_param_comms\", \"ctrl_deps\": 1, \"attrs\": "
	"[{\"name\": \"collective_name\", \"value\": \"allreduce\"}, {\"name\": \"dtype\", "
	"\"value\": \"Float\"}, {\"name\": \"in_msg_nelems\", \"value\": 9}, {\"name\": "
	"\"pg_size\", \"value\": 2}]}]}",
	"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclK\", \"ts\": 1.5, "
	"\"dur\": 2, \"args\": {\"Collective name\": \"broadcast\", \"Group size\": 2, \"dtype\": "
	"\"Int\", \"In msg nelems\": 4, \"Process Group Ranks\": \"[0, 1]\"}}]}",
	"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
	"\"ProfilerStep#1\", \"ts\": 0, \"dur\": 9}, {\"ph\": \"X\", \"cat\": \"cpu_op\", "
	"\"name\": \"autograd::engine::evaluate_function: A\", \"ts\": 1, \"dur\": 3}, "
	"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"ts\": 2, \"dur\": 1, \"args\": "
	"{\"correlation\": 7}}, {\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 4, \"dur\": 2, "
	"\"args\": {\"correlation\": 7}}]}",
	"[rank0 ~ rank3]\ncomm_type,comm_group,comm_group_size,msg_size,additional\n"
	"CommType.all_reduce,CommGroup.tp_group,2,64,\n"
	"CommType.computation,None,None,\"((1, 2), (3))\",\n"
	"CommType.all_gather,CommGroup.dp_group,2,100,\n",
	"MICRO\n1\na\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLREDUCE\t64\t1\n",
	"HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n1\n"
	"a\t-1\t1\tALLGATHER\t64\t1\tNONE\t0\t1\tREDUCESCATTER\t64\t1\n",
	"// g\nnum_ranks 2\nrank 0 {\na: calc 5\nb: send 9b to 1 tag 4\nb requires a\n}\n"
	"rank 1 {\na: recv 9b from 0 tag 4\nb: calc 1 cpu 1\nb irequires a\n}\n",
	NULL};
#endif

static void check_refusal(int rc, const struct refusal *refusal)
{
	check(rc == -EINVAL || rc == -ENOMEM || rc == -ENOTSUP);
	check(refusal->text[0] != '\0');
	for (const char *at = refusal->text; *at != '\0'; at++)
		check(*at >= ' ' && *at < 127);
}

static void check_rank(const struct trace_set *set, const struct trace_rank *rank)
{
	check(rank->circular <= rank->node_count && rank->missing <= rank->wait_count);
	for (uint32_t i = 0; i < rank->node_count; i++) {
		const struct trace_node *node = &rank->nodes[i];
		check(node->kind < TRACE_KIND_COUNT && node->collective < TRACE_COLLECTIVE_COUNT);
		check(node->duration_ps >= 0 && node->start_ps >= 0);
		check(node->wait_first + node->wait_count <= rank->wait_count);
		check(node->kind != TRACE_KIND_COLLECTIVE || node->group < set->group_count);
		check(memchr(node->name, '\0', sizeof(node->name)) != NULL);
	}
	for (uint32_t i = 0; i < rank->wait_count; i++)
		check(rank->waits[i] == TRACE_NONE_WAITED || rank->waits[i] < rank->node_count);
}

static void check_count(const struct trace_set *set)
{
	struct trace_count count;
	uint64_t sum = 0;
	check(trace_count(&count, set) == 0);
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++)
		sum += count.kinds[kind];
	check(sum == count.nodes);
	trace_count_free(&count);
}

// Whatever is expanded is sealed: every operation can end. Only what fits into a moment.
static void check_program(struct trace_set *set)
{
	struct trace_run run = {
		.ranks = 4,
		.rank_host = 2,
		.ring = {.channels = 1, .chunk_bytes_max = 1u << 20, .slices = 2, .credits = 4},
		.has_messages_only = set->ranks[0].node_count % 2 != 0};
	struct trace_program program;
	struct refusal refusal = {0};
	if (set->ranks[0].node_count > NODES_EXPANDED_MAX || trace_ranks(set) > 64)
		return;
	for (uint32_t i = 0; i < set->ranks[0].node_count; i++)
		if (set->ranks[0].nodes[i].bytes > BYTES_EXPANDED_MAX)
			return;
	int rc = trace_expand(&program, set, &run, &refusal);
	if (rc < 0) {
		check_refusal(rc, &refusal);
		return;
	}
	check(program.program->is_sealed && program.program->op_count > 0);
	trace_program_free(&program);
}

static void read_as(enum trace_format format, const char *text, size_t bytes)
{
	struct trace_set set;
	struct refusal refusal = {0};
	trace_set_init(&set, format);
	int rc = trace_set_add(&set, "input", text, bytes, &refusal);
	if (rc < 0) {
		check_refusal(rc, &refusal);
	} else {
		for (uint32_t i = 0; i < set.rank_count; i++)
			check_rank(&set, &set.ranks[i]);
		check_count(&set);
		check_program(&set);
	}
	trace_set_free(&set);
}

static void read_phases(const char *text, size_t bytes)
{
	struct trace_phases phases;
	struct refusal refusal = {0};
	int rc = trace_phases(&phases, text, bytes, &refusal);
	if (rc < 0) {
		check_refusal(rc, &refusal);
		return;
	}
	check(phases.steps > 0 && phases.least_ps <= phases.step_ps &&
	      phases.step_ps <= phases.most_ps);
	for (int i = 0; i < PHASE_COUNT; i++)
		check(phases.phase_ps[i] >= 0);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	enum trace_format format;
	struct refusal refusal = {0};
	char *text = malloc(bytes + (bytes == 0)), *unpacked; // of this size: a reader beyond the
							      // end is seen
	size_t unpacked_bytes;
	check(text != NULL);
	memcpy(text, data, bytes);
	int rc = trace_recognise(&format, text, bytes, &refusal);
	if (rc == 0)
		read_as(format, text, bytes);
	else
		check_refusal(rc, &refusal);
	read_as(bytes == 0 ? TRACE_FORMAT_CHAKRA
			   : (enum trace_format)(data[0] % TRACE_FORMAT_COUNT),
		text, bytes);
	read_phases(text, bytes);
	refusal = (struct refusal){0};
	rc = trace_unpack(&unpacked, &unpacked_bytes, text, bytes, &refusal);
	if (rc == 0)
		free(unpacked);
	else
		check_refusal(rc, &refusal);
	free(text);
}
