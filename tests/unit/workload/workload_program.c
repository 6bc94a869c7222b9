// SPDX-License-Identifier: Apache-2.0
// Programs: who is matched with whom, what is refused and why, and in what order operations may
// begin.

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/program.h>
#include <weft/workload/workload.h>

#define ARENA_BYTES (4u << 20)

static uint8_t memory[ARENA_BYTES] __attribute__((aligned(64)));
static struct arena arena;
static struct refusal refusal;

static struct program *fresh(uint32_t ranks, uint32_t ops, uint32_t edges)
{
	struct program *program;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(program_create(&program, &arena, ranks, ops, edges, &refusal), 0);
	return program;
}

static struct program_run *start(struct program *program)
{
	struct program_run *run;
	if (program_seal(program, &arena, &refusal) < 0)
		fail_msg("refused: %s", refusal.text);
	assert_int_equal(program_run_create(&run, &arena, program), 0);
	return run;
}

static void expect_refused(struct program *program, uint32_t op, const char *text)
{
	assert_int_equal(program_seal(program, &arena, &refusal), -EINVAL);
	assert_string_equal(refusal.text, text);
	assert_int_equal(program->refused_op, op);
	assert_false(program->is_sealed);
}

// ---------------------------------------------------------------- partners

static void messages_of_one_tag_are_matched_in_order(void **)
{
	struct program *program = fresh(2, 8, 0);
	uint32_t receive_a = program_receive(program, 1, 0, 7, 10, 0, false);
	uint32_t receive_b = program_receive(program, 1, 0, 7, 20, 0, false);
	uint32_t other_tag = program_receive(program, 1, 0, 8, 30, 0, true);
	uint32_t send_c = program_send(program, 0, 1, 8, 30, 0);
	uint32_t send_a = program_send(program, 0, 1, 7, 10, 0);
	uint32_t send_b = program_send(program, 0, 1, 7, 20, 0);
	uint32_t back = program_send(program, 1, 0, 7, 10, 100);
	uint32_t there = program_receive(program, 0, 1, 7, 10, 200, false);
	start(program);
	assert_int_equal(program->ops[send_a].twin, receive_a);
	assert_int_equal(program->ops[receive_a].twin, send_a);
	assert_int_equal(program->ops[send_b].twin, receive_b);
	assert_int_equal(program->ops[send_c].twin, other_tag);
	assert_int_equal(program->ops[other_tag].twin, send_c);
	assert_int_equal(program->ops[back].twin, there);
	assert_int_equal(program->buffer_bytes, 210);
}

static void a_message_without_a_partner_is_refused(void **)
{
	struct program *program = fresh(3, 4, 0);
	program_send(program, 0, 1, 0, 10, 0);
	program_receive(program, 1, 0, 0, 10, 0, false);
	program_send(program, 2, 1, 5, 10, 0);
	expect_refused(program, 2,
		       "rank 2, operation 2: rank 1 never receives what it sends (same tag)");
	program = fresh(3, 4, 0);
	program_receive(program, 1, 0, 1, 10, 0, false);
	program_send(program, 0, 1, 2, 10, 0);
	expect_refused(program, 0,
		       "rank 1, operation 0: rank 0 never sends what it waits for (same tag)");
}

static void other_sizes_are_refused(void **)
{
	struct program *program = fresh(2, 2, 0);
	program_send(program, 0, 1, 0, 10, 0);
	program_receive(program, 1, 0, 0, 11, 0, false);
	expect_refused(program, 1,
		       "rank 1, operation 1: what it receives is not as long as what was sent, "
		       "10 bytes");
	program = fresh(2, 2, 0);
	program_receive(program, 1, 0, 0, 11, 0, false);
	program_send(program, 0, 1, 0, 10, 0);
	expect_refused(program, 1,
		       "rank 0, operation 1: what it sends is not as long as what the receive "
		       "expects, 11 bytes");
}

// ---------------------------------------------------------------- circles

static void a_circle_of_dependencies_is_refused(void **)
{
	struct program *program = fresh(1, 4, 4);
	for (int i = 0; i < 4; i++)
		program_compute(program, 0, 0, 10);
	program_wait(program, 0, 3); // waits for the circle, and is none of it
	program_wait(program, 1, 2);
	program_wait(program, 2, 3);
	program_wait(program, 3, 1);
	assert_int_equal(program_seal(program, &arena, &refusal), -EINVAL);
	assert_in_range(program->refused_op, 1, 3);
	assert_non_null(strstr(refusal.text, "it waits for itself"));
	program = fresh(1, 1, 1);
	program_wait(program, program_compute(program, 0, 0, 10), 0);
	expect_refused(program, 0,
		       "rank 0, operation 0: it waits for itself, by way of dependencies and "
		       "messages");
}

// Two ranks that both want to receive before they send.
static void a_circle_through_messages_is_refused(void **)
{
	struct program *program = fresh(3, 5, 3);
	program_compute(program, 2, 0, 10);
	for (uint32_t rank = 0; rank < 2; rank++) {
		uint32_t receive = program_receive(program, rank, 1 - rank, 0, 10, 0, false);
		program_wait(program, program_send(program, rank, 1 - rank, 0, 10, 0), receive);
	}
	assert_int_equal(program_seal(program, &arena, &refusal), -EINVAL);
	assert_in_range(program->refused_op, 1, 4);
	assert_non_null(strstr(refusal.text, "it waits for itself"));
}

// ---------------------------------------------------------------- running

static void operations_begin_when_what_they_wait_for_has_ended(void **)
{
	struct program *program = fresh(2, 5, 4);
	uint32_t compute = program_compute(program, 0, 0, 10);
	uint32_t send = program_send(program, 0, 1, 0, 10, 0);
	uint32_t receive = program_receive(program, 1, 0, 0, 10, 0, false);
	uint32_t after = program_compute(program, 1, 0, 10);
	uint32_t last = program_compute(program, 0, 0, 10);
	program_wait(program, send, compute);
	program_wait(program, send, OP_NONE); // nothing
	program_wait(program, after, receive);
	program_wait(program, last, send);
	struct program_run *run = start(program);
	assert_int_equal(program_run_next(run, 0), compute);
	assert_int_equal(program_run_next(run, 0), OP_NONE);
	assert_int_equal(program_run_next(run, 1), OP_NONE);
	program_run_ended(run, compute);
	assert_int_equal(program_run_next(run, 0), send);
	program_run_arrived(run, receive); // before its sender knows
	assert_int_equal(program_run_next(run, 0), OP_NONE);
	assert_int_equal(program_run_next(run, 1), after);
	program_run_ended(run, send);
	assert_int_equal(program_run_next(run, 0), last);
	assert_int_equal(program_run_left(run, 0), 1);
	assert_int_equal(program_run_left(run, 1), 1);
	program_run_ended(run, last);
	program_run_ended(run, after);
	assert_int_equal(program_run_left(run, 0) + program_run_left(run, 1), 0);
}

// A receive ends when its message is there and what it waits for has ended, whichever is last.
static void a_message_may_come_before_its_receive_begins(void **)
{
	struct program *program = fresh(2, 4, 2);
	uint32_t compute = program_compute(program, 1, 0, 10);
	uint32_t receive = program_receive(program, 1, 0, 0, 10, 0, false);
	uint32_t after = program_compute(program, 1, 1, 10);
	program_send(program, 0, 1, 0, 10, 0);
	program_wait(program, receive, compute);
	program_wait(program, after, receive);
	struct program_run *run = start(program);
	assert_int_equal(program_run_next(run, 1), compute);
	program_run_arrived(run, receive);
	assert_int_equal(program_run_next(run, 1), OP_NONE);
	assert_int_equal(program_run_left(run, 1), 3);
	program_run_ended(run, compute);
	assert_int_equal(program_run_left(run, 1), 1); // the receive ended by itself
	assert_int_equal(program_run_next(run, 1), after);
}

static void computations_of_a_stream_take_turns(void **)
{
	struct program *program = fresh(1, 6, 4);
	uint32_t gate = program_compute(program, 0, 1, 10), of[4];
	for (int i = 0; i < 4; i++)
		of[i] = program_compute(program, 0, 0, 10);
	uint32_t late = program_compute(program, 0, 0, 10);
	program_wait(program, of[3], gate); // added last, asked first: the index decides
	program_wait(program, of[1], gate);
	program_wait(program, late, of[0]);
	struct program_run *run = start(program);
	assert_int_equal(program_run_next(run, 0), gate); // another stream
	assert_int_equal(program_run_next(run, 0), of[0]);
	assert_int_equal(program_run_next(run, 0), OP_NONE); // of[2] waits for the stream
	program_run_ended(run, gate);
	assert_int_equal(program_run_next(run, 0), OP_NONE);
	uint32_t order[] = {of[2], of[1], of[3], late};
	uint32_t running = of[0];
	for (int i = 0; i < 4; i++) {
		program_run_ended(run, running);
		running = program_run_next(run, 0);
		assert_int_equal(running, order[i]);
		assert_int_equal(program_run_next(run, 0), OP_NONE);
	}
	program_run_ended(run, running);
	assert_int_equal(program_run_left(run, 0), 0);
}

// ---------------------------------------------------------------- collectives

// Two groups of two ranks, with two buckets each: ranks 0 and 1, and ranks 1 and 2.
static uint32_t gpus[2][2] = {{0, 1}, {1, 2}};
static struct group groups[2] = {
	{.ranks = 2, .gpus = gpus[0], .bucket_count = 2},
	{.ranks = 2, .gpus = gpus[1], .bucket_first = 2, .bucket_count = 2}};
static const struct job two_groups = {.group_count = 2, .groups = groups, .bucket_count = 4};

static struct program *with_groups(uint32_t edges)
{
	struct program *program = fresh(3, 9, edges);
	program_use_job(program, &two_groups);
	for (uint32_t group = 0; group < 2; group++)
		for (uint32_t at = 0; at < 2; at++)
			for (uint32_t bucket = 0; bucket < 2; bucket++)
				program_collective(program, group + at, group, at, bucket);
	return program;
}

static void collectives_are_told_and_end_like_computations(void **)
{
	struct program *program = with_groups(1);
	uint32_t last = program_compute(program, 2, 0, 10);
	program_wait(program, last, 6);
	struct program_run *run = start(program);
	assert_int_equal(program_collective_of(program, 1, 0, 1), 5);
	assert_int_equal(program->ops[5].rank, 1);
	assert_false(program_run_has_begun(run, 6));
	assert_int_equal(program_run_next(run, 2), 6);
	assert_true(program_run_has_begun(run, 6));
	assert_int_equal(program_run_next(run, 2), 7); // the order of buckets is the host's to keep
	assert_int_equal(program_run_next(run, 2), OP_NONE);
	program_run_ended(run, 6);
	assert_int_equal(program_run_next(run, 2), last);
	assert_int_equal(program_run_left(run, 2), 2);
}

static void every_rank_runs_every_bucket_once(void **)
{
	struct program *program = with_groups(0);
	program_collective(program, 1, 0, 1, 0);
	expect_refused(program, 8, "rank 1, operation 8: bucket 0 is run a second time");
	program = fresh(3, 9, 0);
	program_use_job(program, &two_groups);
	assert_int_equal(program_seal(program, &arena, &refusal), -EINVAL);
	assert_string_equal(refusal.text, "NIC 0 of group 0 does not run the group's bucket 0");
}

// Group 0 at rank 0 waits for nothing, so does group 1 at rank 2; but rank 1 wants the second
// bucket of the one before the first of the other, and the reverse.
static void a_circle_through_collectives_is_refused(void **)
{
	struct program *program = with_groups(2);
	start(program);
	program = with_groups(2);
	program_wait(program, 4, 3);
	program_wait(program, 2, 5);
	assert_int_equal(program_seal(program, &arena, &refusal), -EINVAL);
	assert_in_range(program->refused_op, 2, 5);
	assert_non_null(strstr(refusal.text, "it waits for itself"));
	program = with_groups(1);
	program_wait(program, 0, 1); // against the order of buckets
	assert_int_equal(program_seal(program, &arena, &refusal), -EINVAL);
	assert_in_range(program->refused_op, 0, 3);
}

// ---------------------------------------------------------------- limits

static void what_does_not_fit_is_refused(void **)
{
	struct program *program;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, 4096);
	assert_int_equal(program_create(&program, &arena, 0, 1, 1, &refusal), -EINVAL);
	assert_int_equal(program_create(&program, &arena, 1, 1000, 0, &refusal), -ENOMEM);
	assert_string_equal(refusal.text,
			    "no memory for a program of 1 ranks, 1000 operations "
			    "and 0 dependencies");
	arena_init(&arena, memory, 4096);
	assert_int_equal(program_create(&program, &arena, 1, 20, 20, &refusal), 0);
	for (int i = 0; i < 20; i++)
		program_compute(program, 0, UINT16_MAX, 1);
	arena.size = arena.used + 64;
	assert_int_equal(program_seal(program, &arena, &refusal), -ENOMEM);
	arena.size = sizeof(memory);
	arena.has_failed = false;
	assert_int_equal(program_seal(program, &arena, &refusal), 0);
	struct program_run *run;
	arena.size = arena.used + 65536; // 65,536 streams take more
	assert_int_equal(program_run_create(&run, &arena, program), -ENOMEM);
}

// The bytes told beforehand are enough, and not far off.
static void bytes_are_told_beforehand(void **)
{
	struct program *program = fresh(50, 1000, 999);
	for (uint32_t i = 0; i < 1000; i += 2) {
		uint32_t rank = i / 2 % 49;
		program_send(program, rank, rank + 1, i, 10, 0);
		program_receive(program, rank + 1, rank, i, 10, 0, false);
	}
	assert_int_equal(program_seal(program, &arena, &refusal), 0);
	uint64_t told = program_bytes(50, 1000, 999);
	assert_in_range(arena.used, told * 3 / 4, told);
}

static void an_empty_program_is_done(void **)
{
	struct program *program = fresh(3, 0, 0);
	struct program_run *run = start(program);
	assert_int_equal(program_run_next(run, 2), OP_NONE);
	assert_int_equal(program_run_left(run, 2), 0);
}

static void kinds_have_names(void **)
{
	assert_string_equal(op_kind_name(OP_COMPUTE), "compute");
	assert_string_equal(op_kind_name(OP_SEND), "send");
	assert_string_equal(op_kind_name(OP_RECEIVE), "receive");
	assert_string_equal(op_kind_name(OP_COLLECTIVE), "collective");
}
