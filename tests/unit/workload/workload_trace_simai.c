// SPDX-License-Identifier: Apache-2.0
// SimAI's workload text: a real job of 9,216 GPUs is read whole, and each damage is refused with
// its line and column. The real files are files of others (given.h).

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/trace_simai.h>

#include "../../given.h"

#define ARENA_BYTES (16u << 20)
#define TEXT_MAX (1u << 20)

static uint8_t memory[ARENA_BYTES] __attribute__((aligned(64)));
static char text[TEXT_MAX];

static void arena_fresh(struct arena *arena, size_t bytes)
{
	memset(memory, 0, bytes);
	arena_init(arena, memory, bytes);
}

static int parse(struct trace *trace, const char *what, size_t bytes, struct refusal *refusal)
{
	struct arena arena;
	arena_fresh(&arena, 1u << 19);
	memset(refusal, 0, sizeof(*refusal));
	// an exact copy, so that the sanitizer sees a byte read past the end
	char *copy = malloc(bytes == 0 ? 1 : bytes);
	memcpy(copy, what, bytes);
	int rc = trace_simai_parse(trace, &arena, copy, bytes, refusal);
	free(copy);
	return rc;
}

// ---------------------------------------------------------------- the real job

static void the_real_job_is_counted_by_kind_and_column(void **)
{
	size_t bytes = given_read(text, sizeof(text), "traces/given/simai/workload_analytical.txt");
	struct trace trace;
	struct refusal refusal;
	assert_int_equal(parse(&trace, text, bytes, &refusal), 0);
	assert_int_equal(trace.tp, 2);
	assert_int_equal(trace.ep, 16);
	assert_int_equal(trace.pp, 12);
	assert_int_equal(trace.vpp, 8);
	assert_int_equal(trace.ga, 24);
	assert_int_equal(trace.gpus, 9216);
	assert_int_equal(trace.pp_bytes, 50331648);
	assert_int_equal(trace.layer_count, 1789);
	uint32_t seen[3][TRACE_COMM_COUNT][TRACE_GROUP_COUNT] = {0}, of_column[3] = {0};
	for (uint32_t i = 0; i < trace.entry_count; i++) {
		const struct trace_entry *entry = &trace.entries[i];
		seen[entry->column][entry->comm][entry->group]++;
		of_column[entry->column]++;
	}
	assert_int_equal(seen[0][TRACE_ALLGATHER][TRACE_GROUP_TP], 600);
	assert_int_equal(seen[0][TRACE_ALLREDUCE][TRACE_GROUP_TP], 31);
	assert_int_equal(seen[0][TRACE_ALLTOALL][TRACE_GROUP_TP], 384);
	assert_int_equal(seen[0][TRACE_ALLTOALL][TRACE_GROUP_EP], 384);
	assert_int_equal(seen[0][TRACE_REDUCESCATTER][TRACE_GROUP_TP], 384);
	assert_int_equal(1789 - of_column[0], 6);
	assert_int_equal(seen[1][TRACE_ALLGATHER][TRACE_GROUP_TP], 576);
	assert_int_equal(seen[1][TRACE_ALLREDUCE][TRACE_GROUP_TP], 1);
	assert_int_equal(seen[1][TRACE_ALLTOALL][TRACE_GROUP_TP], 384);
	assert_int_equal(seen[1][TRACE_ALLTOALL][TRACE_GROUP_EP], 384);
	assert_int_equal(seen[1][TRACE_REDUCESCATTER][TRACE_GROUP_TP], 408);
	assert_int_equal(1789 - of_column[1], 36);
	assert_int_equal(seen[2][TRACE_ALLGATHER][TRACE_GROUP_DP], 1);
	assert_int_equal(seen[2][TRACE_REDUCESCATTER][TRACE_GROUP_DP], 1);
	assert_int_equal(seen[2][TRACE_ALLGATHER][TRACE_GROUP_DP_EP], 1);
	assert_int_equal(seen[2][TRACE_REDUCESCATTER][TRACE_GROUP_DP_EP], 1);
	assert_int_equal(1789 - of_column[2], 1785);
	assert_string_equal(trace.entries[0].layer, "grad_gather");
	assert_int_equal(trace.entries[0].line, 3);
	assert_int_equal(trace.entries[0].bytes, UINT64_C(2807758848));
}

static void every_cut_of_the_real_job_is_refused(void **)
{
	size_t bytes = given_read(text, sizeof(text), "traces/given/simai/workload_analytical.txt");
	struct trace trace;
	struct refusal refusal;
	// A cut in the last number alone cannot be seen.
	size_t whole = bytes - 1;
	while (text[whole - 1] != '\t')
		whole--;
	for (size_t end = 0; end <= whole; end += end < 700 || end + 300 > whole ? 1 : 997) {
		assert_int_equal(parse(&trace, text, end, &refusal), -EINVAL);
		assert_true(refusal.text[0] != '\0');
	}
}

// AICB's text of a job has no sizes but that of tensor parallel, its lists none at all: the layers,
// communications and lines are those that `awk` counts in the files.
static void aicb_texts_are_read_without_sizes(void **)
{
	struct trace trace;
	struct refusal refusal;
	size_t bytes = given_read(text, sizeof(text), "traces/given/aicb/micro_all_reduce.txt");
	assert_int_equal(parse(&trace, text, bytes, &refusal), 0);
	assert_true(trace.is_micro);
	assert_int_equal(trace.gpus, 0);
	assert_int_equal(trace.tp, 1);
	assert_int_equal(trace.entry_count, 19);
	bytes = given_read(
		text, sizeof(text),
		"traces/given/aicb/G13B-M1-C02_GPT13B_megatron_tp8_pp1_mbs1_sp_A100.txt");
	assert_int_equal(parse(&trace, text, bytes, &refusal), 0);
	assert_false(trace.is_micro);
	assert_int_equal(trace.gpus, 0);
	assert_int_equal(trace.tp, 8);
	assert_int_equal(trace.pp, 1);
	assert_int_equal(trace.layer_count, 172);
	assert_int_equal(trace.line_count, 174);
	assert_int_equal(trace.entry_count, 334);
	assert_int_equal(trace.compute_ns, 363853233);
}

static void a_csv_is_no_text_of_layers(void **)
{
	struct trace trace;
	struct refusal refusal;
	size_t bytes = given_read(
		text, sizeof(text),
		"traces/given/aicb/physical_L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1.csv");
	assert_int_equal(parse(&trace, text, bytes, &refusal), -EINVAL);
	assert_int_equal(refusal.line, 1);
	assert_int_equal(refusal.column, 1);
}

static void the_job_of_the_real_trace_has_its_data_parallel_groups(void **)
{
	size_t bytes = given_read(text, sizeof(text), "traces/given/simai/workload_analytical.txt");
	struct trace trace;
	struct refusal refusal;
	struct job job;
	struct arena arena;
	arena_fresh(&arena, sizeof(memory));
	assert_int_equal(trace_simai_parse(&trace, &arena, text, bytes, &refusal), 0);
	struct ring_config ring = {2, 4, 2 << 20, 2, 4, RING_PIPELINED, 0};
	assert_int_equal(job_from_trace(&job, &arena, &trace, 8, &ring, &refusal), 0);
	assert_int_equal(job.group_count, 12 * 2 + 12 * 2 * 16);
	assert_int_equal(job.bucket_count, 2 * job.group_count);
	assert_int_equal(job.ring.ranks, 384);
	const struct group *data = &job.groups[3], *expert = &job.groups[24 + 33];
	assert_int_equal(data->ranks, 384);
	assert_int_equal(data->ranks_per_host, 4);
	assert_int_equal(data->stage, 1);
	assert_int_equal(data->gpus[0], 768 + 1);
	assert_int_equal(data->gpus[383], 768 + 767);
	assert_int_equal(expert->ranks, 24);
	assert_int_equal(expert->ranks_per_host, 1);
	assert_int_equal(expert->stage, 1); // 32 groups a stage: the second of stage 1
	assert_int_equal(expert->gpus[0], 768 + 1);
	assert_int_equal(expert->gpus[1], 768 + 1 + 32);
	const struct bucket *first = &job.buckets[data->bucket_first];
	assert_int_equal(first[0].kind, COLLECTIVE_ALL_GATHER);
	assert_int_equal(first[1].kind, COLLECTIVE_REDUCE_SCATTER);
	assert_int_equal(first[1].bytes, UINT64_C(5615517696));
	assert_true(first[0].release_ps < first[1].release_ps);
	assert_int_equal(job.buckets[expert->bucket_first + 1].bytes, UINT64_C(38654705664));
	// each kind of group is a partition of all GPUs
	static uint8_t taken[2][9216];
	for (uint32_t i = 0; i < job.group_count; i++)
		for (uint32_t at = 0; at < job.groups[i].ranks; at++)
			assert_int_equal(taken[i >= 24][job.groups[i].gpus[at]]++, 0);
}

// ---------------------------------------------------------------- damages

#define HEADER \
	"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 " \
	"all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 5\n"
#define LAYER "a\t-1\t1\tNONE\t0\t1\tALLTOALL_EP\t7\t3\tALLREDUCE\t64\t100\n"

struct damaged {
	const char *text, *reason;
	uint32_t line, column;
};

static void expect_refused(const struct damaged *damaged, size_t bytes)
{
	struct trace trace;
	struct refusal refusal;
	assert_int_equal(parse(&trace, damaged->text, bytes, &refusal), -EINVAL);
	if (strstr(refusal.text, damaged->reason) == NULL)
		fail_msg("'%s' does not say '%s'", refusal.text, damaged->reason);
	assert_int_equal(refusal.line, damaged->line);
	assert_int_equal(refusal.column, damaged->column);
}

static void a_small_trace_is_read(void **)
{
	struct trace trace;
	struct refusal refusal;
	const char *const good[] = {HEADER "1\n" LAYER, HEADER "1\n" LAYER "\n \n",
				    HEADER "1\r\n a -1 1 NONE 0   1 ALLTOALL_EP 7 3 ALLREDUCE 64 "
					   "100"};
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(parse(&trace, good[i], strlen(good[i]), &refusal), 0);
		assert_int_equal(trace.entry_count, 2);
		assert_int_equal(trace.entries[0].group, TRACE_GROUP_EP);
		assert_int_equal(trace.entries[0].column, 1);
		assert_int_equal(trace.entries[1].group, TRACE_GROUP_DP);
		assert_int_equal(trace.entries[1].compute_ns, 3);
		assert_string_equal(trace.entries[1].layer, "a");
		assert_int_equal(trace.pp_bytes, 5);
	}
}

static void each_damage_is_refused_with_its_place(void **)
{
	static const struct damaged all[] = {
		{"", "empty", 0, 0},
		{"\n", "must begin", 1, 1},
		{"DATA tp: 1\n", "must begin", 1, 1},
		{"HYBRID_TRANSFORMER colour: 3\n", "does not have", 1, 20},
		{"HYBRID_TRANSFORMER ep: 3 ep: 3\n", "twice", 1, 26},
		{"HYBRID_TRANSFORMER ep: x\n", "digits", 1, 24},
		{"HYBRID_TRANSFORMER ep: -3\n", "negative", 1, 24},
		{"HYBRID_TRANSFORMER ep:\n", "missing", 1, 23},
		{"HYBRID_TRANSFORMER ep: 99999999999\n", "above 2147483647", 1, 24},
		{"HYBRID_TRANSFORMER ep: 1\n", "model_parallel_NPU_group", 1, 25},
		{HEADER, "before its number", 1, 0},
		{HEADER "two\n", "digits", 2, 1},
		{HEADER "1 1\n" LAYER, "nothing else", 2, 3},
		{HEADER "2\n" LAYER, "2 layers, but the trace ends after 1", 3, 0},
		{HEADER "1\n" LAYER LAYER, "one more", 4, 1},
		{HEADER "2\n" LAYER "\n" LAYER, "empty line", 5, 1},
		{HEADER "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0\n", "12 columns, this line has 11", 3,
		 32},
		{HEADER "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1 1\n", "has 13", 3, 36},
		{HEADER "1\na x 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "dependency must be -1", 3, 3},
		{HEADER "1\na 0 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "dependency must be -1", 3, 3},
		{HEADER "1\na -2 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "dependency must be -1", 3, 3},
		{HEADER "1\na -1 1 NONE 0 1 NONE -4 1 NONE 0 1\n", "negative", 3, 22},
		{HEADER "1\na -1 1 NONE 0 1 NONE 4 1 NONE 0 1\n", "NONE cannot", 3, 22},
		{HEADER "1\na -1 1 SUM 0 1 NONE 0 1 NONE 0 1\n", "not a communication", 3, 8},
		{HEADER "1\na -1 1 NONE_EP 0 1 NONE 0 1 NONE 0 1\n", "not a comm", 3, 8},
		{HEADER "1\na -1 1 ALLREDUCE_TP 0 1 NONE 0 1 NONE 0 1\n", "not a comm", 3, 8},
		{HEADER "1\na -1 1 ALLREDUCE 9223372036854775808 1 NONE 0 1 NONE 0 1\n", "above", 3,
		 18},
		{HEADER "1\na -1 1 ALLREDUCE 1.5 1 NONE 0 1 NONE 0 1\n", "digits", 3, 19},
		{HEADER "1\nan_endless_name_of_a_layer_of_thirty -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
		 "at most 31", 3, 1},
		{HEADER "1\na\x01 -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "value 1", 3, 2},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		expect_refused(&all[i], strlen(all[i].text));
	static const char nul[] = HEADER "1\na\0 -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
	expect_refused(&(struct damaged){nul, "value 0", 3, 2}, sizeof(nul) - 1);
}

static void sizes_that_do_not_fit_each_other_are_refused(void **)
{
	static const struct damaged all[] = {
		{"HYBRID_TRANSFORMER model_parallel_NPU_group: 3 ep: 1 pp: 1 vpp: 1 ga: 1 "
		 "all_gpus: "
		 "8\n",
		 "does not divide", 1, 84},
		{"HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 3 pp: 1 vpp: 1 ga: 1 "
		 "all_gpus: "
		 "8\n",
		 "4 data ranks do not divide by ep, 3", 1, 84},
		{"HYBRID_TRANSFORMER model_parallel_NPU_group: 0 ep: 1 pp: 1 vpp: 1 ga: 1 "
		 "all_gpus: "
		 "8\n",
		 "is 0", 1, 84},
		{"HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 2 vpp: 1 ga: 1 "
		 "all_gpus: "
		 "8\n",
		 "lacks pp_comm", 1, 84},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		expect_refused(&all[i], strlen(all[i].text));
}

// Any bytes at all end in an answer, never in a crash.
static void random_changes_end_in_an_answer(void **)
{
	static const char good[] = HEADER "2\n" LAYER LAYER;
	char changed[sizeof(good)];
	struct trace trace;
	struct refusal refusal;
	struct rng rng = rng_of(1, RNG_TEST, 0);
	uint32_t refused = 0;
	for (uint32_t round = 0; round < 3000; round++) {
		memcpy(changed, good, sizeof(good));
		for (uint32_t i = 0; i < 1 + round % 4; i++) {
			uint32_t place = rng_below(&rng, sizeof(good) - 1);
			changed[place] = (char)rng_below(&rng, 256);
		}
		int rc = parse(&trace, changed, rng_below(&rng, sizeof(good)), &refusal);
		assert_true(rc == 0 || (rc == -EINVAL && refusal.text[0] != '\0'));
		refused += rc != 0;
	}
	assert_true(refused > 2500);
}

static void a_trace_without_anything_to_run_is_refused(void **)
{
	static const char alone[] = HEADER "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
	struct trace trace;
	struct refusal refusal;
	struct job job;
	struct arena arena;
	arena_fresh(&arena, sizeof(memory));
	struct ring_config ring = {2, 4, 2 << 20, 2, 4, RING_PIPELINED, 0};
	assert_int_equal(trace_simai_parse(&trace, &arena, alone, sizeof(alone) - 1, &refusal), 0);
	assert_int_equal(job_from_trace(&job, &arena, &trace, 8, &ring, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "nothing to run"));
}
