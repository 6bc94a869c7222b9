// SPDX-License-Identifier: Apache-2.0
// GOAL text: what becomes of it, what of damaged text, and whether the files of others are read.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/workload_goal.h>

#include "../../given.h"

#define ARENA_BYTES (16u << 20)

static uint8_t memory[ARENA_BYTES] __attribute__((aligned(64)));
static struct arena arena;
static struct refusal refusal;

static int parse_bytes(struct program **ret, const char *text, size_t bytes)
{
	memset(memory, 0, arena.used);
	arena_init(&arena, memory, sizeof(memory));
	refusal = (struct refusal){0};
	return goal_parse(ret, &arena, text, bytes, PS_PER_NS, &refusal);
}

static struct program *parse(const char *text)
{
	struct program *program;
	if (parse_bytes(&program, text, strlen(text)) < 0)
		fail_msg("%u:%u: %s", refusal.line, refusal.column, refusal.text);
	return program;
}

static void expect_refused(const char *text, uint32_t line, uint32_t column, const char *reason)
{
	struct program *program;
	assert_int_equal(parse_bytes(&program, text, strlen(text)), -EINVAL);
	assert_string_equal(refusal.text, reason);
	assert_int_equal(refusal.line, line);
	assert_int_equal(refusal.column, column);
}

static bool waits(const struct program *program, uint32_t op, uint32_t before)
{
	for (uint32_t i = 0; i < program->edge_count; i++)
		if (program->edge_to[i] == op && program->edge_from[i] == before)
			return true;
	return false;
}

// ---------------------------------------------------------------- what is read

static void operations_become_those_of_a_program(void **)
{
	struct program *program = parse("num_ranks 2\n"
					"rank 0 {\n"
					"l1: calc 683 cpu 3\n"
					"l2: send 4096b to 1 tag 7 cpu 1 nic 0\n"
					"l2 requires l1\n"
					"calc 5\r\n"
					"}\n"
					"/* all that\n"
					"   is a comment */ rank 1 { // and this\n"
					"\tb_2 : recv 4096 b from 0 tag 7\n}");
	assert_int_equal(program->ranks, 2);
	assert_int_equal(program->op_count, 4);
	assert_int_equal(program->ops[0].compute_ps, 683 * PS_PER_NS);
	assert_int_equal(program->ops[0].stream, 3);
	assert_int_equal(program->ops[1].kind, OP_SEND);
	assert_int_equal(program->ops[1].bytes, 4096);
	assert_int_equal(program->ops[1].tag, 7);
	assert_int_equal(program->ops[1].twin, 3);
	assert_int_equal(program->ops[2].stream, 0);
	assert_int_equal(program->ops[3].kind, OP_RECEIVE);
	assert_int_equal(program->ops[3].rank, 1);
	assert_int_equal(program->edge_count, 1);
	assert_true(waits(program, 1, 0));
}

// Messages stay on NICs of one number; where one has none there it goes to any NIC of the rank.
static void a_receive_may_be_on_another_nic(void **)
{
	struct program *program = parse(
		"num_ranks 2\n"
		"rank 0 {\n"
		"send 8b to 1 nic 0\nsend 8b to 1 nic 1\nsend 8b to 1 nic 0\n}\n"
		"rank 1 {\n"
		"recv 8b from 0 nic 2\nrecv 8b from 0 nic 1\n"
		"recv 8b from 0 nic 0\n}");
	const uint32_t twins[] = {5, 4, 3}, peers[] = {3, 4, 5};
	assert_int_equal(program->ranks, 6);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(program->ops[i].twin, twins[i]);
		assert_int_equal(program->ops[i].peer, peers[i]);
		assert_int_equal(program->ops[twins[i]].peer, program->ops[i].rank);
	}
	expect_refused("num_ranks 2\nrank 0 {\nsend 8b to 1 nic 3\n}\nrank 1 {\n}\n", 3, 0,
		       "rank 0, operation 0: rank 1 never receives what it sends (same tag)");
}

// A label is of its rank; a tag that is not said is 0.
static void labels_are_of_their_rank(void **)
{
	struct program *program = parse(
		"num_ranks 2\n"
		"rank 1 {\nl1: recv 1b from 0 tag 0\n}\n"
		"rank 0 {\nl1: calc 1\nl2: send 1b to 1\nl2 requires l1\n}");
	assert_int_equal(program->ops[0].twin, 2);
	assert_true(waits(program, 2, 1));
}

// b begins when a may begin: a has a gate that waits for what a waits for.
static void irequires_waits_for_the_begin(void **)
{
	struct program *program = parse("num_ranks 2\n"
					"rank 0 {\nx: calc 9\na: send 1b to 1\nb: calc 2 cpu 1\n"
					"b irequires a\na requires x\n}\n"
					"rank 1 {\nrecv 1b from 0\n}\n");
	assert_int_equal(program->op_count, 5);
	uint32_t gate = 4;
	assert_int_equal(program->ops[gate].kind, OP_COMPUTE);
	assert_int_equal(program->ops[gate].compute_ps, 0);
	assert_int_equal(program->ops[gate].rank, 0);
	assert_int_equal(program->ops[gate].stream, 2); // no core of the file
	assert_true(waits(program, 2, gate) && waits(program, 1, gate) && waits(program, gate, 0));
	assert_int_equal(program->edge_count, 3);
}

// ---------------------------------------------------------------- what is refused

#define HEAD "num_ranks 2\nrank 0 {\n"
#define TAIL "}\nrank 1 {\n}\n"

static void wrong_words_are_refused(void **)
{
	expect_refused("", 0, 0, "the file has no num_ranks");
	expect_refused("rank 0 {\n}\n", 1, 1, "the file begins with num_ranks");
	expect_refused("num_ranks 0\n", 1, 1, "there is 1 rank or more");
	expect_refused("num_ranks 9\n", 1, 1, "9 ranks do not fit into a file of 12 bytes");
	expect_refused("num_ranks 1\nnum_ranks 1\nrank 0 {}", 2, 1, "num_ranks appears twice");
	expect_refused("num_ranks x\n", 1, 11, "a whole number is wanted here, digits alone");
	expect_refused("num_ranks 1\nrank 0\n}\n", 2, 7, "a rank goes on with {");
	expect_refused("num_ranks 1\nrank 1 {\n}\n", 2, 1, "rank 1 is not below num_ranks, 1");
	expect_refused(HEAD "rank 1 {\n}\n", 3, 1, "rank 0 is not closed yet: } is missing");
	expect_refused(HEAD "}\nrank 0 {\n}\n", 4, 1, "rank 0 appears twice");
	expect_refused(HEAD "}\nrank 1 {\n}\nrank 0 {\n}\n", 6, 1, "rank 0 appears twice");
	expect_refused("num_ranks 1\nl1: calc 1\nrank 0 {\n}", 2, 1,
		       "this stands in no rank's block");
	expect_refused(HEAD "l1 calc 1\n" TAIL, 3, 4,
		       "a label goes on with :, requires or irequires");
	expect_refused(HEAD "l1: copy 1\n" TAIL, 3, 5, "send, recv or calc is wanted here");
	expect_refused(HEAD "7: calc 1\n" TAIL, 3, 1,
		       "num_ranks, rank, an operation, a label or } is wanted here");
	expect_refused(HEAD "/* 7\n" TAIL, 3, 1, "the file ends within this comment");
	expect_refused(HEAD "calc 1 cpu 65535\n" TAIL, 3, 12, "the number is above 65534");
	expect_refused(HEAD "calc 1 tag 2\n" TAIL, 3, 8,
		       "a computation goes on with cpu, once, or ends here");
	expect_refused(HEAD "calc 1152921504607000000\n" TAIL, 3, 1,
		       "this computation is too long");
}

static void wrong_messages_are_refused(void **)
{
	expect_refused(HEAD "send 8 to 1\n" TAIL, 3, 8, "a size is in bytes: the number and a b");
	expect_refused(HEAD "send 0b to 1\n" TAIL, 3, 7, "a message has 1 byte or more");
	expect_refused(HEAD "send 4294967296b to 1\n" TAIL, 3, 6, "the number is above 4294967295");
	expect_refused(HEAD "send 8b from 1\n" TAIL, 3, 9, "a send goes on with `to` and a rank");
	expect_refused(HEAD "recv 8b to 1\n" TAIL, 3, 9, "a recv goes on with `from` and a rank");
	expect_refused(HEAD "send 8b to 2\n" TAIL, 3, 1, "rank 2 is not below num_ranks, 2");
	expect_refused(HEAD "a: send 8b to 0\n" TAIL, 3, 1,
		       "rank 0 has no message for itself: what stays there is a calc");
	expect_refused(HEAD "recv 8b from -1\n" TAIL, 3, 14,
		       "-1, any, would be known only when it runs: name the one that is meant");
	expect_refused(HEAD "recv 8b from 1 tag -1\n" TAIL, 3, 20,
		       "-1, any, would be known only when it runs: name the one that is meant");
	expect_refused(HEAD "send 8b to 1 nic 64\n" TAIL, 3, 18, "the number is above 63");
	expect_refused(HEAD "a: calc 1\nb: send 8b to 1 nic 1\nb requires a\n" TAIL, 5, 1,
		       "this waits for an operation of another NIC of its rank, line 3: only what "
		       "goes over one NIC can wait for each other");
	expect_refused(HEAD "send 8b to 1 tag 1 tag 2\n" TAIL, 3, 20,
		       "a message goes on with tag, cpu or nic, each once, or ends here");
}

static void wrong_dependencies_are_refused(void **)
{
	expect_refused(HEAD "l1: calc 1\nl1: calc 2\n" TAIL, 4, 1,
		       "this label appears twice, first in line 3");
	expect_refused(HEAD "l1: calc 1\nl1 requires l2\n" TAIL, 4, 13,
		       "no operation of rank 0 above has this label");
	expect_refused(HEAD "l2 irequires l1\nl1: calc 1\n" TAIL, 3, 1,
		       "no operation of rank 0 above has this label");
	expect_refused(HEAD "l1: calc 1\n}\nrank 1 {\nl1 requires l1\n}\n", 6, 1,
		       "no operation of rank 1 above has this label");
	expect_refused(HEAD "l1: calc 1\nl1 requires l1 l1\n" TAIL, 4, 16,
		       "the line should be over before this");
}

// What is wrong with the whole has the line of an operation that shows it.
static void what_cannot_end_is_refused(void **)
{
	expect_refused(HEAD "calc 1\nsend 8b to 1\n" TAIL, 4, 0,
		       "rank 0, operation 1: rank 1 never receives what it sends (same tag)");
	expect_refused(HEAD "send 8b to 1\n}\nrank 1 {\n\nrecv 9b from 0\n}\n", 7, 0,
		       "rank 1, operation 1: what it receives is not as long as what was sent, 8 "
		       "bytes");
	expect_refused(HEAD "a: calc 1\nb: calc 1\nb requires a\na irequires b\n" TAIL, 4, 0,
		       "rank 0, operation 2: it waits for itself, by way of dependencies and "
		       "messages");
}

// ---------------------------------------------------------------- files of others

static char text[1 << 16];

static size_t given(const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), "traces/given/goal/%s", name);
	return given_read(text, sizeof(text), path);
}

// Counts as data/REFERENCE.md gives them.
static const struct {
	const char *name;
	uint32_t ranks, sends, receives, computes, waits;
} reference[] = {
	{"Financial_1.goal", 77, 72, 72, 30, 150},
	{"binary_tree_32.goal", 32, 31, 31, 0, 26},
	{"incast_8_1_2MiB.goal", 16, 2, 2, 0, 1},
	{"perm64.goal", 64, 64, 64, 0, 0},
};
#define REFERENCES (sizeof(reference) / sizeof(*reference))

static void given_files_have_the_counts_of_the_reference(void **)
{
	for (size_t i = 0; i < REFERENCES; i++) {
		size_t bytes = given(reference[i].name);
		struct program *program;
		uint32_t counts[OP_KIND_COUNT] = {0};
		if (parse_bytes(&program, text, bytes) < 0)
			fail_msg("%s:%u: %s", reference[i].name, refusal.line, refusal.text);
		for (uint32_t op = 0; op < program->op_count; op++)
			counts[program->ops[op].kind]++;
		assert_int_equal(program->ranks, reference[i].ranks);
		assert_int_equal(counts[OP_SEND], reference[i].sends);
		assert_int_equal(counts[OP_RECEIVE], reference[i].receives);
		assert_int_equal(counts[OP_COMPUTE], reference[i].computes);
		assert_int_equal(program->edge_count, reference[i].waits);
	}
}

// A file that was cut anywhere is refused with a line; only white space at the end may be missing.
static void cut_files_are_refused(void **)
{
	for (size_t i = 0; i < REFERENCES; i++) {
		size_t bytes = given(reference[i].name);
		while (text[bytes - 1] != '}')
			bytes--;
		for (size_t cut = 0; cut < bytes; cut += 1 + cut / 200) {
			struct program *program;
			assert_int_equal(parse_bytes(&program, text, cut), -EINVAL);
			assert_true(refusal.text[0] != '\0' && (refusal.line > 0 || cut == 0));
		}
	}
}
