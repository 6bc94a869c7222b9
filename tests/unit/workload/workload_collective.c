// SPDX-License-Identifier: Apache-2.0
// The ring of one rank, and whole rings of them: a small simulator gives every message a random
// delay and lets each rank start late, then asks that all are done, that every byte went, and that
// no connection ever held more than its credits.

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/workload.h>

#define RANKS_MAX 12u
#define CHANNELS_MAX 5u
#define COLLECTIVES_MAX 4u
#define ARENA_BYTES (1u << 20)

static uint8_t memory[ARENA_BYTES] __attribute__((aligned(64)));

static struct ring *ring_of(struct arena *arena, const struct ring_config *config)
{
	struct ring *ring = NULL;
	struct refusal refusal;
	assert_int_equal(ring_create(&ring, arena, config, &refusal), 0);
	return ring;
}

static void arena_fresh(struct arena *arena)
{
	memset(memory, 0, sizeof(memory));
	arena_init(arena, memory, sizeof(memory));
}

// ---------------------------------------------------------------- a ring of ranks

enum event_kind { EVENT_START, EVENT_RECEIVED, EVENT_SENT, EVENT_CREDIT };

struct event {
	ps_t at_ps;
	enum event_kind kind;
	uint32_t rank, channel;
};

struct line {
	ps_t last_data_ps, last_sent_ps, last_credit_ps; // each stays in order
	uint64_t sent, arrived, granted_to;
	uint64_t in_flight, in_flight_most; // sent and not yet granted again
	uint64_t bytes;
};

struct party {
	struct ring_config config;
	struct {
		enum collective_kind kind;
		uint64_t bytes;
	} work[COLLECTIVES_MAX];
	uint32_t work_count;
	struct ring *rings[RANKS_MAX];
	uint32_t started[RANKS_MAX], done[RANKS_MAX];
	struct line lines[RANKS_MAX][CHANNELS_MAX]; // of the sender
	struct event *events;
	uint32_t event_count, event_max;
	ps_t now_ps;
	struct rng rng;
};

static void later(struct party *party, struct event event)
{
	if (party->event_count == party->event_max) {
		party->event_max = party->event_max * 2 + 64;
		party->events = realloc(party->events, party->event_max * sizeof(struct event));
		assert_non_null(party->events);
	}
	party->events[party->event_count++] = event;
}

static struct event earliest(struct party *party)
{
	uint32_t first = 0;
	for (uint32_t i = 1; i < party->event_count; i++)
		if (party->events[i].at_ps < party->events[first].at_ps)
			first = i;
	struct event event = party->events[first];
	party->events[first] = party->events[--party->event_count];
	return event;
}

// A random delay that keeps the order of what it follows.
static ps_t delay(struct party *party, ps_t *last_ps)
{
	ps_t at_ps = party->now_ps + 1 + rng_below(&party->rng, 1000);
	*last_ps = at_ps > *last_ps ? at_ps : *last_ps + 1;
	return *last_ps;
}

static void act(struct party *party, uint32_t rank)
{
	uint32_t ranks = party->config.ranks;
	uint32_t next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
	for (;;) {
		struct ring_action action = ring_next(party->rings[rank]);
		if (action.kind == RING_NOTHING)
			return;
		if (action.kind == RING_DONE) {
			party->done[rank]++;
			later(party,
			      (struct event){party->now_ps + rng_below(&party->rng, 5000),
					     EVENT_START, rank, 0});
			continue;
		}
		uint32_t channel = action.channel;
		if (action.kind == RING_GRANT) {
			struct line *line = &party->lines[previous][channel];
			assert_int_equal(action.slice, line->granted_to++ + party->config.credits);
			later(party,
			      (struct event){delay(party, &line->last_credit_ps), EVENT_CREDIT,
					     previous, channel});
			continue;
		}
		struct line *line = &party->lines[rank][channel];
		assert_int_equal(action.slice, line->sent++);
		assert_true(action.bytes > 0);
		line->bytes += action.bytes;
		line->in_flight++;
		if (line->in_flight > line->in_flight_most)
			line->in_flight_most = line->in_flight;
		later(party,
		      (struct event){delay(party, &line->last_data_ps), EVENT_RECEIVED, next,
				     channel});
		later(party,
		      (struct event){delay(party, &line->last_sent_ps), EVENT_SENT, rank, channel});
	}
}

static void start(struct party *party, uint32_t rank)
{
	if (party->started[rank] == party->work_count)
		return;
	uint32_t index = party->started[rank]++;
	assert_false(ring_is_busy(party->rings[rank]));
	ring_start(party->rings[rank], party->work[index].kind, party->work[index].bytes);
}

static void take(struct party *party, const struct event *event)
{
	struct ring *ring = party->rings[event->rank];
	switch (event->kind) {
	case EVENT_START:
		start(party, event->rank);
		break;
	case EVENT_RECEIVED:
		ring_on_received(ring, event->channel);
		break;
	case EVENT_SENT:
		ring_on_sent(ring, event->channel);
		break;
	case EVENT_CREDIT:
		party->lines[event->rank][event->channel].in_flight--;
		ring_on_credit(ring, event->channel);
		break;
	}
}

static void run(struct party *party)
{
	struct arena arena;
	arena_fresh(&arena);
	for (uint32_t rank = 0; rank < party->config.ranks; rank++) {
		party->rings[rank] = ring_of(&arena, &party->config);
		later(party, (struct event){rng_below(&party->rng, 20000), EVENT_START, rank, 0});
	}
	while (party->event_count > 0) {
		struct event event = earliest(party);
		party->now_ps = event.at_ps;
		take(party, &event);
		act(party, event.rank);
	}
	free(party->events);
}

// What a rank must have sent on a channel, from the definition alone: every step carries the
// channel's part of one shard.
static uint64_t bytes_due(const struct party *party, uint32_t channel)
{
	uint64_t due = 0, ranks = party->config.ranks, channels = party->config.channels;
	for (uint32_t i = 0; i < party->work_count; i++) {
		uint64_t shard = (party->work[i].bytes + ranks - 1) / ranks;
		uint64_t steps = ranks - 1;
		if (party->work[i].kind == COLLECTIVE_ALL_REDUCE)
			steps *= 2;
		if (party->config.steps_max > 0 && party->config.steps_max < steps)
			steps = party->config.steps_max;
		due += steps * (shard / channels + (channel < shard % channels));
	}
	return due;
}

static void expect_done(const struct party *party)
{
	for (uint32_t rank = 0; rank < party->config.ranks; rank++) {
		assert_int_equal(party->done[rank], party->work_count);
		assert_false(ring_is_busy(party->rings[rank]));
		for (uint32_t channel = 0; channel < party->config.channels; channel++) {
			const struct line *line = &party->lines[rank][channel];
			assert_int_equal(line->bytes, bytes_due(party, channel));
			if (party->config.form == RING_BARRIER)
				continue;
			assert_true(line->in_flight_most <= party->config.credits);
			// every slot is free again: each slice was granted anew
			assert_int_equal(line->granted_to, line->sent);
		}
	}
}

static struct party random_party(uint64_t seed)
{
	struct party party = {.rng = rng_of(seed, RNG_TEST, 0)};
	struct rng *rng = &party.rng;
	struct ring_config *config = &party.config;
	config->slices = 1 + rng_below(rng, 4);
	config->ranks = 2 + rng_below(rng, RANKS_MAX - 1);
	config->channels = 1 + rng_below(rng, CHANNELS_MAX);
	config->chunk_bytes_max = 1 + rng_below(rng, 3000);
	config->credits = config->slices + 1 + rng_below(rng, 4);
	config->form = rng_below(rng, 4) == 0 ? RING_BARRIER : RING_PIPELINED;
	config->steps_max = rng_below(rng, 2) == 0 ? 0 : 1 + rng_below(rng, 14);
	party.work_count = 1 + rng_below(rng, COLLECTIVES_MAX);
	for (uint32_t i = 0; i < party.work_count; i++) {
		party.work[i].kind = (enum collective_kind)rng_below(rng, COLLECTIVE_KIND_COUNT);
		party.work[i].bytes = rng_below(rng, 8) == 0
			? rng_below(rng, 20)
			: rng_below(rng,
				    (uint32_t)party.config.chunk_bytes_max * party.config.ranks *
					    party.config.channels * 4);
	}
	return party;
}

static void every_ring_of_late_ranks_ends_with_all_bytes(void **)
{
	const char *runs = getenv("WEFT_RING_SEEDS");
	uint64_t seeds = runs == NULL ? 400 : strtoull(runs, NULL, 10);
	for (uint64_t seed = 0; seed < seeds; seed++) {
		struct party party = random_party(seed);
		run(&party);
		expect_done(&party);
	}
}

// ---------------------------------------------------------------- one rank

static void a_slice_waits_for_the_same_slice_of_the_step_before(void **)
{
	struct arena arena;
	arena_fresh(&arena);
	struct ring_config config = {3, 1, 256, 2, 4, RING_PIPELINED, 0};
	struct ring *ring = ring_of(&arena, &config);
	ring_start(ring, COLLECTIVE_ALL_GATHER, 3 * 256);
	for (uint64_t slice = 0; slice < 2; slice++) { // step 0 is the rank's own
		struct ring_action action = ring_next(ring);
		assert_int_equal(action.kind, RING_SEND);
		assert_int_equal(action.slice, slice);
		assert_int_equal(action.bytes, 128);
	}
	assert_int_equal(ring_next(ring).kind, RING_NOTHING);
	ring_on_received(ring, 0);
	struct ring_action action = ring_next(ring);
	assert_int_equal(action.kind, RING_SEND); // step 1, slice 0
	assert_int_equal(action.slice, 2);
	action = ring_next(ring); // it left the receive buffer
	assert_int_equal(action.kind, RING_GRANT);
	assert_int_equal(action.slice, 4);
	assert_int_equal(ring_next(ring).kind, RING_NOTHING);
	assert_int_equal(ring_steps_received(ring, 0), 0);
	ring_on_received(ring, 0);
	assert_int_equal(ring_steps_received(ring, 0), 1);
}

static void no_more_sends_wait_for_completion_than_credits(void **)
{
	struct arena arena;
	arena_fresh(&arena);
	struct ring_config config = {2, 1, 128, 1, 2, RING_PIPELINED, 0};
	struct ring *ring = ring_of(&arena, &config);
	ring_start(ring, COLLECTIVE_REDUCE_SCATTER, 2 * 128 * 4); // 4 loops of 1 step
	ring_on_credit(ring, 0);
	ring_on_credit(ring, 0);
	assert_int_equal(ring_next(ring).kind, RING_SEND);
	assert_int_equal(ring_next(ring).kind, RING_SEND);
	assert_int_equal(ring_next(ring).kind, RING_NOTHING);
	ring_on_sent(ring, 0);
	assert_int_equal(ring_next(ring).kind, RING_SEND);
	assert_int_equal(ring_next(ring).kind, RING_NOTHING);
}

static void a_barrier_step_waits_for_its_own_completion(void **)
{
	struct arena arena;
	arena_fresh(&arena);
	struct ring_config config = {3, 1, 1, 1, 1, RING_BARRIER, 0};
	struct ring *ring = ring_of(&arena, &config);
	ring_start(ring, COLLECTIVE_ALL_GATHER, 3000);
	struct ring_action action = ring_next(ring);
	assert_int_equal(action.kind, RING_SEND);
	assert_int_equal(action.bytes, 1000);
	ring_on_received(ring, 0);
	assert_int_equal(ring_next(ring).kind, RING_NOTHING);
	ring_on_sent(ring, 0);
	assert_int_equal(ring_next(ring).kind, RING_SEND);
	ring_on_sent(ring, 0);
	assert_int_equal(ring_next(ring).kind, RING_NOTHING);
	ring_on_received(ring, 0);
	assert_int_equal(ring_next(ring).kind, RING_DONE);
	assert_int_equal(ring_next(ring).kind, RING_NOTHING);
}

static void the_plan_of_the_large_bucket_is_the_one_nccl_cuts(void **)
{
	struct ring_config config = {256, 4, 2 << 20, 2, 4, RING_PIPELINED, 0};
	struct ring_plan plan;
	uint64_t bytes = UINT64_C(1593901056) * 2;
	ring_plan(&plan, &config, COLLECTIVE_REDUCE_SCATTER, bytes);
	assert_int_equal(plan.loops, 2);
	assert_int_equal(plan.steps_per_loop_all, 255);
	assert_int_equal(plan.slices_per_channel, 2 * 2 * 255);
	assert_int_equal(plan.bytes_per_channel * 4 * 256, bytes * 255);
	config.steps_max = 20;
	ring_plan(&plan, &config, COLLECTIVE_ALL_REDUCE, bytes);
	assert_int_equal(plan.steps_per_loop, 20);
	assert_int_equal(plan.steps_per_loop_all, 510);
	assert_int_equal(plan.bytes_per_channel_all * 20, plan.bytes_per_channel * 510);
}

static void a_ring_that_would_stand_still_is_refused(void **)
{
	struct arena arena;
	struct refusal refusal;
	struct ring *ring;
	arena_fresh(&arena);
	struct ring_config good = {4, 4, 1 << 21, 2, 4, RING_PIPELINED, 0}, bad = good;
	bad.credits = 2;
	assert_int_equal(ring_create(&ring, &arena, &bad, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "2 credits, 2 slices"));
	bad = good;
	bad.ranks = 1;
	assert_int_equal(ring_create(&ring, &arena, &bad, &refusal), -EINVAL);
	bad = good;
	bad.channels = 65;
	assert_int_equal(ring_create(&ring, &arena, &bad, &refusal), -EINVAL);
	bad = good;
	bad.credits = 33;
	assert_int_equal(ring_create(&ring, &arena, &bad, &refusal), -EINVAL);
	bad = good;
	bad.chunk_bytes_max = 0;
	assert_int_equal(ring_create(&ring, &arena, &bad, &refusal), -EINVAL);
	arena_init(&arena, memory, 64);
	assert_int_equal(ring_create(&ring, &arena, &good, &refusal), -ENOMEM);
}
