// SPDX-License-Identifier: Apache-2.0
// The time of each step, worked out by hand: of a ring of two ranks, and of a program in which one
// rank passes on what it gets after work of its own. And which of them are the worst.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <weft/measure/measure_slices.h>

#include "../result/result_world.h"
#include "worst_steps.h"

static struct fake *fake;
static struct worst_steps steps;
static uint32_t gpus[] = {2, 4};

// Two ranks and two collectives; so many slices of the one channel are kept.
static void open_ring(uint32_t max)
{
	fake = fake_world("ring-2");
	struct world *world = &fake->world;
	fake->groups[0] = (struct group){
		.ranks = 2, .gpus = gpus, .ranks_per_host = 1, .bucket_count = 2};
	fake->buckets[0] = (struct bucket){.release_ps = 5};
	fake->buckets[1] = (struct bucket){.release_ps = 6};
	world->job.group_count = 1;
	world->job.ring.channels = 1;
	world->slices = arena_draw(&fake->arena, ARENA_MEASURE, 2, sizeof(*world->slices));
	check(world->slices != NULL);
	for (int i = 0; i < 2; i++)
		check(slices_init(&world->slices[i], &fake->arena, 1, max, 2) == 0);
}

static int tear_down(void **)
{
	worst_steps_free(&steps);
	fake_free(fake);
	return 0;
}

// Rank 1 sends a slice at `at`; rank 0 has it at `came`.
static void pass(uint64_t number, uint32_t bucket, uint32_t step, ps_t at, ps_t came)
{
	slices_sent(&fake->world.slices[1], 0, number,
		    &(struct slice_sent){.at = at, .bucket = bucket, .step = step, .bytes = 100});
	if (came != PS_NEVER)
		slices_came(&fake->world.slices[0], 0, came);
}

static void part(uint32_t rank, uint32_t bucket, ps_t begin, ps_t end)
{
	slices_began(&fake->world.slices[rank], bucket, begin);
	if (end != PS_NEVER)
		slices_ended(&fake->world.slices[rank], bucket, end);
}

static void is_step(uint32_t index, ps_t took, uint32_t from, uint32_t to)
{
	assert_true(index < steps.count);
	assert_int_equal(steps.list[index].took_ps, took);
	assert_int_equal(steps.list[index].from_nic, from);
	assert_int_equal(steps.list[index].to_nic, to);
}

// Two steps of two slices, and one of one in the next collective. What the sender began later than
// planned counts: 12 - 5 first, then 100 - 90, as its own part before ended at 90.
static void a_ring_step_takes_what_its_receiver_stood_for(void **)
{
	open_ring(10);
	part(0, 0, 5, 96);
	part(0, 1, 97, 140);
	part(1, 0, 12, 90);
	part(1, 1, 100, PS_NEVER);
	pass(0, 0, 0, 12, 40); // 28
	pass(1, 0, 0, 13, 50); // 10 after the one before
	pass(2, 0, 1, 45, 80); // 30
	pass(3, 0, 1, 85, 96); // 11: between 80 and 85 nothing had been sent
	pass(4, 1, 0, 100, 130);
	worst_steps_find(&steps, &fake->world);
	assert_null(steps.reason);
	assert_int_equal(steps.count, 3);
	assert_int_equal(steps.left_out, 0);
	assert_int_equal(steps.worst, 1);
	is_step(0, 28 + 10 + 7, 4, 2);
	is_step(1, 30 + 11, 4, 2);
	is_step(2, 30 + 10, 4, 2);
}

// A step is there when all of it is: not the one that the log's end cuts, nor one that may go on.
static void a_step_that_may_not_be_whole_is_none(void **)
{
	open_ring(3);
	part(0, 0, 0, 96);
	part(1, 0, 5, 90);
	pass(0, 0, 0, 12, 40);
	pass(1, 0, 0, 13, 50);
	pass(2, 0, 1, 45, 80);
	pass(3, 0, 1, 85, 96); // beyond the log
	worst_steps_find(&steps, &fake->world);
	assert_int_equal(steps.count, 1);
	assert_int_equal(steps.left_out, 1);
	is_step(0, 38, 4, 2);
	tear_down(NULL);
	open_ring(10);
	part(0, 0, 0, PS_NEVER); // cut off by a limit
	part(1, 0, 5, PS_NEVER);
	pass(0, 0, 0, 12, 40);
	pass(1, 0, 1, 41, 60);
	pass(2, 0, 2, 61, PS_NEVER);
	worst_steps_find(&steps, &fake->world);
	assert_int_equal(steps.count, 2);
	is_step(0, 28, 4, 2);
	is_step(1, 19, 4, 2); // the next one has begun
	tear_down(NULL);
	open_ring(10);
	worst_steps_find(&steps, &fake->world);
	assert_string_equal(steps.reason, "no step has ended");
	assert_int_equal(steps.worst, 0);
}

// So many steps of one slice each, of which `slow` take 50 and the others less.
static void many_steps(uint32_t count, uint32_t slow)
{
	open_ring(count);
	part(0, 0, 0, (ps_t)count * 100);
	part(1, 0, 5, (ps_t)count * 100);
	for (uint32_t i = 0; i < count; i++)
		pass(i, 0, i, (ps_t)i * 100 + 5, (ps_t)i * 100 + (i < slow ? 55 : 25));
	worst_steps_find(&steps, &fake->world);
	assert_int_equal(steps.count, count);
}

static void the_worst_are_a_hundredth_and_what_is_as_slow(void **)
{
	many_steps(200, 2);
	assert_int_equal(steps.worst, 2);
	assert_int_equal(steps.list[1].took_ps, 50);
	assert_int_equal(steps.list[2].took_ps, 20);
	tear_down(NULL);
	many_steps(201, 3);
	assert_int_equal(steps.worst, 3);
	tear_down(NULL);
	many_steps(200, 7); // no one of the seven is slower than the others
	assert_int_equal(steps.worst, 7);
	tear_down(NULL);
	many_steps(200, 0);
	assert_int_equal(steps.worst, 200);
}

// Rank 0 computes and sends to rank 1, which computes and passes it on to rank 2; beside that rank
// 0 sends once more when its first send has ended.
static struct program *passed_on(void)
{
	struct program *program;
	check(program_create(&program, &fake->arena, 3, 8, 8, NULL) == 0);
	uint32_t first = program_compute(program, 0, 0, 10);
	uint32_t send = program_send(program, 0, 1, 0, 100, 0);
	uint32_t again = program_send(program, 0, 2, 0, 100, 0);
	uint32_t receive = program_receive(program, 1, 0, 0, 100, 0, false);
	uint32_t work = program_compute(program, 1, 0, 20);
	uint32_t pass_on = program_send(program, 1, 2, 0, 100, 0);
	program_receive(program, 2, 1, 0, 100, 0, false);
	program_receive(program, 2, 0, 0, 100, 0, false);
	program_wait(program, send, first);
	program_wait(program, again, send);
	program_wait(program, work, receive);
	program_wait(program, pass_on, work);
	check(program_seal(program, &fake->arena, NULL) == 0);
	return program;
}

// The sender's own work counts, what it waited for does not.
static void a_message_takes_from_what_its_sender_waited_for(void **)
{
	static uint32_t nics[] = {3, 9, 12};
	static struct op_time times[8] = {
		{0, 15},    // computes, late by 5
		{15, 60},   // sends to rank 1
		{60, 130},  // and to rank 2
		{50, 50},   // rank 1 has it: 50 since its sender could begin
		{50, 90},   // computes, late by 20
		{90, 120},  // passes it on
		{115, 115}, // rank 2 has it: 65 since rank 1 had what it waited for
		{125, 125}, // 65 since the send before had ended
	};
	fake = fake_world("passed-on");
	fake->world.program = passed_on();
	memcpy(fake->world.program->nics, nics, sizeof(nics));
	worst_steps_find(&steps, &fake->world);
	assert_string_equal(steps.reason, "watch.operations is false");
	fake->world.op_times = times;
	worst_steps_find(&steps, &fake->world);
	assert_int_equal(steps.count, 3);
	assert_int_equal(steps.worst, 2);
	assert_int_equal(steps.list[0].took_ps, 65);
	assert_int_equal(steps.list[0].to_nic, 12);
	assert_int_equal(steps.list[1].took_ps, 65);
	assert_int_equal(steps.list[1].to_nic, 12);
	is_step(2, 50, 3, 9);
	worst_steps_free(&steps);
	times[7].end_ps = PS_NEVER; // never came
	worst_steps_find(&steps, &fake->world);
	assert_int_equal(steps.count, 2);
	is_step(0, 65, 9, 12);
}

static void what_has_no_steps_says_why(void **)
{
	fake = fake_world("none");
	worst_steps_find(&steps, &fake->world);
	assert_string_equal(steps.reason, "the traffic has no steps");
	fake->world.job.group_count = 1;
	worst_steps_find(&steps, &fake->world);
	assert_string_equal(steps.reason, "watch.messages is none");
}
