// SPDX-License-Identifier: Apache-2.0
// Any bytes as a SimAI workload file: it is read into what memory there is, or refused with a
// reason.

#include "target.h"

#include <errno.h>

#include <weft/workload/trace_simai.h>

#define MEMORY_BYTES ((size_t)4 << 20)

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 "
	"all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm 0\n"
	"3\n"
	"gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t1048576\t100\n"
	"reduce\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tREDUCESCATTER_DP_EP\t2097152\t100\n"
	"layer\t-1\t10\tALLREDUCE\t4096\t1\tALLTOALL_EP\t64\t5\tBROADCAST\t8\t100\n",
	"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 0 "
	"checkpoint_initiates: 0\n"
	"1\n"
	"reduce\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tREDUCESCATTER\t2097152\t100\n",
	"MICRO\n1\nall_reduce\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLREDUCE\t4096\t1\n", NULL};
#endif

static _Alignas(64) uint8_t memory[MEMORY_BYTES];

static void check_trace(const struct trace *trace, const struct arena *arena)
{
	bool is_alone = trace->ep == 1 && trace->pp == 1 && trace->vpp == 1 && trace->ga == 1;
	check(trace->gpus > 0 || is_alone); // AICB's text does not say how many there are
	for (uint32_t i = 0; i < trace->entry_count; i++) {
		const struct trace_entry *entry = &trace->entries[i];
		check((const uint8_t *)entry >= arena->base &&
		      (const uint8_t *)(entry + 1) <= arena->base + arena->used);
		check(entry->comm > TRACE_NONE && entry->comm < TRACE_COMM_COUNT);
		check(entry->group < TRACE_GROUP_COUNT && entry->column < 3 && entry->line > 2);
		check(memchr(entry->layer, '\0', sizeof(entry->layer)) != NULL);
	}
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	struct trace trace;
	struct arena arena;
	struct refusal refusal = {0};
	char *text = malloc(bytes + (bytes == 0)); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	arena_init(&arena, memory, sizeof(memory));
	int rc = trace_simai_parse(&trace, &arena, text, bytes, &refusal);
	check(rc == 0 || rc == -EINVAL || rc == -ENOMEM);
	if (rc == 0)
		check_trace(&trace, &arena);
	else
		check(refusal.text[0] != '\0' && strchr(refusal.text, '\n') == NULL);
	memset(memory, 0, arena.used); // an arena's memory is zeroed
	free(text);
}
