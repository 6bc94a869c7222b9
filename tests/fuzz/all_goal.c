// SPDX-License-Identifier: Apache-2.0
// Any bytes as GOAL text: it becomes a program that ends, whatever order its events come in, or it
// is refused with a reason.

#include "target.h"

#include <errno.h>

#include <weft/workload/workload_goal.h>

#define MEMORY_BYTES ((size_t)16 << 20)

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"num_ranks 3\n"
	"rank 0 {\n"
	"l1: calc 100 cpu 1\nl2: send 4096b to 1 tag 7\nl2 requires l1\n"
	"l3: recv 8b from 2\nl3 irequires l2 // a comment\n"
	"}\n"
	"rank 1 {\nr: recv 4096b from 0 tag 7\ns: send 70000b to 2 nic 0 cpu 2\ns requires r\n}\n"
	"/* another */\n"
	"rank 2 {\nr: recv 70000b from 1\ns: send 8b to 0\ns requires r\nc: calc 1\nc requires s\n"
	"}\n",
	NULL};
#endif

static _Alignas(64) uint8_t memory[MEMORY_BYTES];

// Ends one operation after the other, the latest that began first.
static void check_ends(const struct program *program, struct arena *arena)
{
	struct program_run *run;
	uint32_t *begun = arena_draw(arena, ARENA_WORKLOAD, program->op_count, sizeof(*begun));
	uint32_t count = 0, left = 0;
	if (begun == NULL || program_run_create(&run, arena, program) < 0)
		return;
	do {
		if (count > 0) {
			uint32_t op = begun[--count];
			program_run_ended(run, op);
			if (program->ops[op].kind == OP_SEND)
				program_run_arrived(run, program->ops[op].twin);
		}
		for (uint32_t rank = 0; rank < program->ranks; rank++)
			for (uint32_t op; (op = program_run_next(run, rank)) != OP_NONE;)
				begun[count++] = op;
	} while (count > 0);
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		left += program_run_left(run, rank);
	check(left == 0);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	struct program *program;
	struct arena arena;
	struct refusal refusal = {0};
	char *text = malloc(bytes + (bytes == 0)); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	arena_init(&arena, memory, sizeof(memory));
	int rc = goal_parse(&program, &arena, text, bytes, PS_PER_NS, &refusal);
	check(rc == 0 || rc == -EINVAL || rc == -ENOMEM);
	if (rc == 0)
		check_ends(program, &arena);
	else
		check(refusal.text[0] != '\0' && strchr(refusal.text, '\n') == NULL);
	check(rc != -EINVAL || refusal.line > 0 || bytes == 0);
	memset(memory, 0, arena.used); // an arena's memory is zeroed
	free(text);
}
