// SPDX-License-Identifier: Apache-2.0
// Jobs side by side: who sits where, and one program of all.

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/mix.h>

#define NICS 48u
#define PER_HOST 4u

static uint8_t memory[4 << 20] __attribute__((aligned(64)));
static struct arena arena;
static struct refusal refusal;
static struct mix_room room;
static uint32_t nics[NICS];

static void fresh(void)
{
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	refusal = (struct refusal){0};
	assert_int_equal(mix_room_draw(&room, &arena, NICS, PER_HOST, &refusal), 0);
}

static void place(uint8_t part, struct mix_placement placement)
{
	if (mix_place(&room, part, &placement, nics, &refusal) < 0)
		fail_msg("refused: %s", refusal.text);
}

static void refused(uint8_t part, struct mix_placement placement, const char *text)
{
	assert_int_equal(mix_place(&room, part, &placement, nics, &refusal), -EINVAL);
	assert_string_equal(refusal.text, text);
}

static void expect_nics(const uint32_t *expected, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(nics[i], expected[i]);
}

// ---------------------------------------------------------------- placement

static void hosts_in_a_row_are_those_with_room(void **)
{
	static const uint32_t second[] = {12, 13, 14, 15, 16, 17, 18, 19};
	static const uint32_t third[] = {8, 9, 20, 21};
	fresh();
	place(0, (struct mix_placement){.ranks = 8});
	place(1, (struct mix_placement){.ranks = 8, .first_host = 3});
	expect_nics(second, 8);
	place(2, (struct mix_placement){.ranks = 4, .per_host = 2});
	expect_nics(third, 2); // host 2, before what the second has
	assert_int_equal(nics[2], 20);
	place(3,
	      (struct mix_placement){
		      .ranks = 2}); // fewer ranks than a host has: what is left there
	assert_int_equal(nics[0], 10);
	assert_int_equal(nics[1], 11);
	assert_int_equal(room.owner[9], 2);
	assert_int_equal(room.owner[47], MIX_NOBODY);
}

static void a_stride_counts_from_the_first_host_with_room(void **)
{
	static const uint32_t first[] = {0, 1, 2, 3, 12, 13, 14, 15, 24, 25, 26, 27};
	static const uint32_t second[] = {4, 5, 6, 7, 16, 17, 18, 19, 28, 29, 30, 31};
	const struct mix_placement placement = {.kind = PLACEMENT_SPREAD, .ranks = 12, .stride = 3};
	fresh();
	place(0, placement);
	expect_nics(first, 12);
	place(1, placement);
	expect_nics(second, 12);
}

static void each_choice_of_hosts_is_as_likely(void **)
{
	uint32_t seen[NICS / PER_HOST] = {0}, rounds = 3000;
	for (uint32_t seed = 1; seed <= rounds; seed++) {
		fresh();
		place(0, (struct mix_placement){.ranks = 8, .first_host = 0});
		place(1,
		      (struct mix_placement){.kind = PLACEMENT_RANDOM, .ranks = 16, .seed = seed});
		for (uint32_t i = 0; i < 16; i++) {
			assert_int_equal(nics[i] % PER_HOST, i % PER_HOST);
			assert_int_equal(room.owner[nics[i]], 1);
			assert_true(i == 0 || nics[i] > nics[i - 1]);
			seen[nics[i] / PER_HOST] += i % PER_HOST == 0;
		}
	}
	// 4 of 10 hosts: 1200 times each, with a deviation of sqrt(3000 * 0.4 * 0.6) = 26.8
	assert_int_equal(seen[0] + seen[1], 0);
	for (uint32_t host = 2; host < NICS / PER_HOST; host++)
		assert_in_range(seen[host], 1200 - 134, 1200 + 134);
}

static void seeds_and_places_in_the_list_are_dice_of_their_own(void **)
{
	uint32_t first[8];
	const struct mix_placement placement = {.kind = PLACEMENT_RANDOM, .ranks = 8, .seed = 5};
	fresh();
	place(0, placement);
	memcpy(first, nics, sizeof(first));
	fresh();
	place(0, placement);
	assert_memory_equal(first, nics, sizeof(first));
	fresh();
	place(1, placement);
	assert_memory_not_equal(first, nics, sizeof(first));
}

static void lists_are_taken_rank_by_rank(void **)
{
	static const uint32_t expected[] = {47, 3, 8, 9, 10, 0};
	fresh();
	place(0,
	      (struct mix_placement){.kind = PLACEMENT_LIST, .ranks = 6, .nics = "47 3 8-10  0"});
	expect_nics(expected, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(room.owner[expected[i]], 0);
}

static struct mix_placement list(const char *text, uint32_t ranks)
{
	return (struct mix_placement){.kind = PLACEMENT_LIST, .ranks = ranks, .nics = text};
}

static void seats_that_are_not_there_are_refused(void **)
{
	static const char form[] =
		"a list of NICs is as in 0-3 8 12-15: numbers and ranges, a space between";
	fresh();
	refused(0, (struct mix_placement){.ranks = 52},
		"no room: 48 of its 52 ranks have a NIC, with 4 NICs of each host");
	fresh();
	refused(0, (struct mix_placement){.ranks = 10}, "10 ranks are not 4 on each host");
	refused(0, (struct mix_placement){.ranks = 10, .per_host = 5},
		"5 NICs of a host that has 4");
	place(0, (struct mix_placement){.ranks = 8, .per_host = 2, .first_host = 4});
	refused(1, list("0-15 16", 17), "NIC 16 is that of job 1 already");
	fresh();
	refused(1, list("48", 2), "there is no NIC 48 of 48");
	refused(1, list("5 6 5", 3), "NIC 5 is in the list twice");
	fresh();
	refused(1, list("1 2 3", 2), "the list has more NICs than the job has ranks, 2");
	fresh();
	refused(1, list("1 2 3", 4), "the list has 3 NICs for 4 ranks");
	fresh();
	refused(1, list("1,2", 2), form);
	fresh();
	refused(1, list("4-3", 2), form);
	fresh();
	refused(1, list("99999999999", 2), form);
}

// ---------------------------------------------------------------- one program of all

// Rank 0 computes, then tells rank 1, which computes and answers.
static struct program *two_ranks(void)
{
	struct program *program;
	assert_int_equal(program_create(&program, &arena, 2, 6, 3, &refusal), 0);
	uint32_t first = program_compute(program, 0, 0, 100);
	uint32_t send = program_send(program, 0, 1, 9, 64, 0);
	uint32_t receive = program_receive(program, 1, 0, 9, 64, 0, false);
	uint32_t last = program_compute(program, 1, 0, 50);
	uint32_t answer = program_send(program, 1, 0, 9, 64, 0);
	program_receive(program, 0, 1, 9, 64, 0, false);
	program_wait(program, send, first);
	program_wait(program, answer, last);
	program_wait(program, last, receive);
	assert_int_equal(program_seal(program, &arena, &refusal), 0);
	return program;
}

static const struct ring_config ring = {0, 2, 2 << 20, 2, 4, RING_PIPELINED, 0};

// Plays a program: messages arrive when they are sent; returns when the last operation of `rank`
// ended. Computations of other times are run in order of their end.
static ps_t play(const struct program *program, uint32_t rank)
{
	struct program_run *run;
	ps_t now = 0, end_ps = 0, ends[64];
	uint32_t open[64], count = 0;
	assert_int_equal(program_run_create(&run, &arena, program), 0);
	for (bool goes_on = true; goes_on;) {
		goes_on = false;
		for (uint32_t at = 0; at < program->ranks; at++)
			for (uint32_t op; (op = program_run_next(run, at)) != OP_NONE;) {
				goes_on = true;
				if (program->ops[op].kind == OP_COMPUTE) {
					ends[count] = now + program->ops[op].compute_ps;
					open[count++] = op;
				} else {
					program_run_ended(run, op);
					program_run_arrived(run, program->ops[op].twin);
				}
			}
		uint32_t next = 0;
		for (uint32_t i = 1; i < count; i++)
			next = ends[i] < ends[next] ? i : next;
		if (goes_on || count == 0)
			continue;
		now = ends[next];
		end_ps = program->ops[open[next]].rank == rank ? now : end_ps;
		program_run_ended(run, open[next]);
		open[next] = open[--count];
		ends[next] = ends[count];
		goes_on = true;
	}
	for (uint32_t at = 0; at < program->ranks; at++)
		assert_int_equal(program_run_left(run, at), 0);
	return end_ps;
}

static void starts_and_rounds_are_waited_for(void **)
{
	static const uint32_t nics_of[] = {7, 2}, others[] = {1, 5};
	struct program *all;
	fresh();
	const struct program *one = two_ranks();
	const struct mix_part parts[] = {{one, nics_of, 0, 3}, {one, others, 1000, 1}};
	assert_int_equal(mix_program(&all, &arena, parts, 2, 8, 2, &ring, &refusal), 0);
	assert_true(all->is_sealed);
	assert_int_equal(all->ranks, 8);
	// rank 0 of the first is NIC 7: each round it computes 100, and waits 50 for the answer
	assert_int_equal(play(all, 7), 400);
	assert_int_equal(play(all, 2), 450);
	assert_int_equal(play(all, 5), 1150);
}

static void rings_become_groups_where_their_ranks_sit(void **)
{
	static const uint32_t first[] = {8, 9, 10, 11}, second[] = {2, 3, 6, 7};
	struct job rings, other;
	struct program *programs[2], *all;
	struct ring_config of = ring;
	fresh();
	of.ranks = 4;
	assert_int_equal(
		job_from_ring(&rings, &arena, COLLECTIVE_ALL_REDUCE, 1 << 20, 4, &of, &refusal), 0);
	assert_int_equal(
		job_from_ring(&other, &arena, COLLECTIVE_ALL_GATHER, 3 << 20, 2, &of, &refusal), 0);
	assert_int_equal(mix_rings(&programs[0], &arena, &rings, 4, &refusal), 0);
	assert_int_equal(mix_rings(&programs[1], &arena, &other, 4, &refusal), 0);
	const struct mix_part parts[] = {{programs[0], first, 0, 1}, {programs[1], second, 500, 2}};
	assert_int_equal(mix_program(&all, &arena, parts, 2, 12, 4, &ring, &refusal), 0);
	assert_int_equal(all->job->group_count, 2);
	assert_int_equal(all->job->groups[0].ranks_per_host, 4);
	assert_int_equal(all->job->groups[1].ranks_per_host, 2);
	assert_int_equal(all->job->groups[1].bucket_count, 2);
	const struct bucket *bucket = &all->job->buckets[all->job->groups[1].bucket_first + 1];
	assert_int_equal(bucket->bytes, 3 << 20);
	assert_int_equal(bucket->kind, COLLECTIVE_ALL_GATHER);
	assert_int_equal(bucket->release_ps, 500);
	for (uint32_t at = 0; at < 4; at++) {
		assert_int_equal(all->job->groups[1].gpus[at], second[at]);
		uint32_t op = program_collective_of(all, 1, at, 1);
		assert_int_equal(all->ops[op].rank, second[at]);
	}
}

static void rings_that_lie_unevenly_are_refused(void **)
{
	static const uint32_t nics_of[] = {0, 1, 2, 4};
	struct job rings;
	struct program *one, *all;
	struct ring_config of = ring;
	fresh();
	of.ranks = 4;
	assert_int_equal(
		job_from_ring(&rings, &arena, COLLECTIVE_ALL_REDUCE, 1 << 20, 4, &of, &refusal), 0);
	assert_int_equal(mix_rings(&one, &arena, &rings, 4, &refusal), 0);
	const struct mix_part part = {one, nics_of, 0, 1};
	assert_int_equal(mix_program(&all, &arena, &part, 1, 8, 4, &ring, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "a group of 4 ranks has 3 of them on one host"));
}

static void more_operations_than_a_program_holds_are_refused(void **)
{
	static const uint32_t nics_of[] = {0, 1};
	struct program *all;
	fresh();
	const struct mix_part part = {two_ranks(), nics_of, 0, 1000000000};
	assert_int_equal(mix_program(&all, &arena, &part, 1, 8, 4, &ring, &refusal), -EINVAL);
	assert_string_equal(refusal.text,
			    "these jobs have 8000000000 operations: a program has at "
			    "most 4294967294");
}
