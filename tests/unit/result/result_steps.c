// SPDX-License-Identifier: Apache-2.0
// What ranks waited for, worked out by hand: a ring of two ranks with two channels and slices that
// are under way at once, and a collective's program whose messages come in any order.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <weft/measure/measure_slices.h>

#include "result_world.h"
#include "timeline/steps.h"

static struct fake *fake;
static struct steps steps;
static uint32_t gpus[] = {0, 4};

// Two ranks, two collectives; of each channel so many slices are kept.
static void open_ring(uint32_t max)
{
	fake = fake_world("ring-2");
	struct world *world = &fake->world;
	fake->groups[0] = (struct group){
		.ranks = 2, .gpus = gpus, .ranks_per_host = 1, .bucket_count = 2};
	fake->buckets[0] = (struct bucket){.label = "first"};
	fake->buckets[1] = (struct bucket){.label = "second"};
	world->job.group_count = 1;
	world->job.ring.channels = 2;
	world->slices = arena_draw(&fake->arena, ARENA_MEASURE, 2, sizeof(*world->slices));
	check(world->slices != NULL);
	for (int i = 0; i < 2; i++)
		check(slices_init(&world->slices[i], &fake->arena, 2, max, 2) == 0);
}

static int tear_down(void **)
{
	steps_free(&steps);
	fake_free(fake);
	return 0;
}

// Rank 1 sends slice `number` of channel 1 at `at`; rank 0 has it at `came`.
static void pass(uint64_t number, uint32_t bucket, uint32_t step, ps_t at, ps_t came)
{
	slices_sent(&fake->world.slices[1], 1, number,
		    &(struct slice_sent){.at = at, .bucket = bucket, .step = step, .bytes = 100});
	if (came != PS_NEVER)
		slices_came(&fake->world.slices[0], 1, came);
}

static void begin_and_end(uint32_t bucket, ps_t begin, ps_t end)
{
	slices_began(&fake->world.slices[0], bucket, begin);
	if (end != PS_NEVER)
		slices_ended(&fake->world.slices[0], bucket, end);
}

// The `index`-th span of a level on channel 1 of rank 0.
static const struct steps_span *span_of(enum steps_level level, uint32_t index)
{
	for (uint32_t i = 0; i < steps.count; i++)
		if (steps.spans[i].track == 1 && steps.spans[i].level == level && index-- == 0)
			return &steps.spans[i];
	fail_msg("no span %u of level %d", index, level);
	return NULL;
}

static void is_span(enum steps_level level, uint32_t index, ps_t from, ps_t until, uint32_t lane)
{
	const struct steps_span *span = span_of(level, index);
	assert_int_equal(span->from_ps, from);
	assert_int_equal(span->until_ps, until);
	assert_int_equal(span->lane, lane);
}

// Two spans of a lane may not cross: either they do not meet, or one holds the other.
static void all_nest(void)
{
	for (uint32_t i = 0; i < steps.count; i++) {
		for (uint32_t j = 0; j < steps.count; j++) {
			const struct steps_span *a = &steps.spans[i], *b = &steps.spans[j];
			if (a->track == b->track && a->lane == b->lane && a->from_ps < b->from_ps &&
			    b->from_ps < a->until_ps && a->until_ps < b->until_ps)
				fail_msg("spans %u and %u of a track cross", i, j);
		}
	}
}

// Slices of four steps are under way at once; the receiver stands for one after the other.
static void slices_are_waited_for_one_after_the_other(void **)
{
	open_ring(10);
	begin_and_end(0, 10, 100);
	pass(0, 0, 0, 12, 40);
	pass(1, 0, 0, 13, 50);
	pass(2, 0, 1, 45, 80); // posted while slice 1 was under way
	pass(3, 0, 1, 85, 95); // posted late: between 80 and 85 there was nothing to wait for
	assert_int_equal(steps_of(&steps, &fake->world, 100), 0);
	assert_null(steps.reason);
	all_nest();
	is_span(STEPS_PART, 0, 10, 100, 0);
	is_span(STEPS_STEP, 0, 12, 50, 0);
	is_span(STEPS_MESSAGE, 0, 12, 40, 0);
	is_span(STEPS_MESSAGE, 1, 40, 50, 0);
	is_span(STEPS_STEP, 1, 50, 95, 0);
	is_span(STEPS_MESSAGE, 2, 50, 80, 0);
	is_span(STEPS_MESSAGE, 3, 85, 95, 0);
	assert_int_equal(span_of(STEPS_STEP, 0)->count, 2);
	assert_int_equal(span_of(STEPS_STEP, 0)->bytes, 200);
	assert_int_equal(span_of(STEPS_MESSAGE, 3)->from, 1);
	assert_int_equal(span_of(STEPS_MESSAGE, 2)->posted_ps, 45);
	char name[96];
	steps_track_name(name, sizeof(name), &steps, 1);
	assert_string_equal(name, "stage 0 group 0 rank 0 (NIC 0) channel 1");
	steps_span_name(name, sizeof(name), &steps, span_of(STEPS_STEP, 1));
	assert_string_equal(name, "step 1");
}

// A neighbour that is ahead: what it sent of the next collective was there before this rank began.
static void what_came_before_the_begin_is_a_moment_at_the_begin(void **)
{
	open_ring(10);
	begin_and_end(0, 0, 30);
	begin_and_end(1, 60, 90);
	pass(0, 0, 0, 5, 20);
	pass(1, 1, 0, 25, 55);
	pass(2, 1, 1, 26, 70);
	assert_int_equal(steps_of(&steps, &fake->world, 100), 0);
	all_nest();
	is_span(STEPS_PART, 1, 60, 90, 0);
	is_span(STEPS_MESSAGE, 1, 60, 60, 0);
	is_span(STEPS_MESSAGE, 2, 60, 70, 0);
	assert_int_equal(span_of(STEPS_STEP, 2)->bucket, 1);
	assert_int_equal(span_of(STEPS_STEP, 2)->step, 1);
}

// What has not come has no span, nor has the step that it belongs to, nor the part.
static void what_is_open_is_counted(void **)
{
	open_ring(10);
	begin_and_end(0, 0, PS_NEVER);
	pass(0, 0, 0, 5, 20);
	pass(1, 0, 0, 6, 30);
	pass(2, 0, 1, 25, 40);
	pass(3, 0, 1, 35, PS_NEVER);
	assert_int_equal(steps_of(&steps, &fake->world, 100), 0);
	all_nest();
	is_span(STEPS_STEP, 0, 5, 30, 0);
	is_span(STEPS_MESSAGE, 2, 30, 40, 0);
	assert_int_equal(steps.count, 4);
	assert_int_equal(steps.unfinished[STEPS_MESSAGE], 1);
	assert_int_equal(steps.unfinished[STEPS_STEP], 1);
	assert_int_equal(steps.unfinished[STEPS_PART], 8); // of two ranks, channels, collectives
}

// Three slices are kept: the fourth is counted, and the step that it belongs to is not told.
static void what_had_no_room_is_counted(void **)
{
	open_ring(3);
	begin_and_end(0, 0, 100);
	for (uint32_t i = 0; i < 4; i++)
		pass(i, 0, i / 2, 10 * i, 10 * i + 10);
	assert_int_equal(steps_of(&steps, &fake->world, 100), 0);
	is_span(STEPS_STEP, 0, 0, 20, 0);
	is_span(STEPS_MESSAGE, 2, 20, 30, 0);
	assert_int_equal(steps.count, 2 + 1 + 3); // the part on both channels, a step
	assert_int_equal(steps.left_out[STEPS_MESSAGE], 1);
	assert_int_equal(steps.left_out[STEPS_STEP], 1);
	steps_free(&steps);
	assert_int_equal(steps_of(&steps, &fake->world, 2), 0); // nor has the file
	assert_int_equal(steps.left_out[STEPS_MESSAGE], 2);
}

// A program of three messages to rank 1 on one channel: two of step 0, and one that waits for what
// rank 0 got from rank 1 before, and comes between the two.
static void steps_that_overlap_lie_in_lanes(void **)
{
	struct program *program;
	fake = fake_world("program-2");
	fake->scenario.traffic.kind = TRAFFIC_COLLECTIVE;
	check(program_create(&program, &fake->arena, 2, 8, 1, NULL) == 0);
	program_send(program, 0, 1, 0, 10, 0);
	program_receive(program, 1, 0, 0, 10, 0, false);
	program_send(program, 1, 0, 0, 10, 0);
	uint32_t heard = program_receive(program, 0, 1, 0, 10, 0, false);
	uint32_t second = program_send(program, 0, 1, 0, 10, 0);
	program_receive(program, 1, 0, 0, 10, 0, false);
	program_send(program, 0, 1, 0, 10, 0);
	program_receive(program, 1, 0, 0, 10, 0, false);
	program_wait(program, second, heard);
	check(program_seal(program, &fake->arena, NULL) == 0);
	struct op_time times[8] = {{0, 9},   {30, 30}, {0, 9},	{10, 10},
				   {12, 40}, {35, 35}, {0, 50}, {45, 45}};
	fake->world.program = program;
	fake->world.op_times = times;
	assert_int_equal(steps_of(&steps, &fake->world, 100), 0);
	all_nest();
	is_span(STEPS_PART, 0, 0, 45, 0);
	// channel 0 of rank 1 is track 1: steps 0 (30 and 45) and 1 (35)
	is_span(STEPS_STEP, 0, 0, 45, 0);
	is_span(STEPS_STEP, 1, 30, 35, 1);
	is_span(STEPS_MESSAGE, 0, 0, 30, 0);
	is_span(STEPS_MESSAGE, 1, 35, 45, 0);
	is_span(STEPS_MESSAGE, 2, 30, 35, 1);
	assert_int_equal(span_of(STEPS_STEP, 1)->step, 1);
}

static void where_there_is_none_the_reason_is_told(void **)
{
	fake = fake_world("nothing");
	assert_int_equal(steps_of(&steps, &fake->world, 100), 0);
	assert_string_equal(steps.reason, "the traffic is not a collective");
	fake->world.job.group_count = 1;
	assert_int_equal(steps_of(&steps, &fake->world, 100), 0);
	assert_string_equal(steps.reason, "watch.messages is none");
}
