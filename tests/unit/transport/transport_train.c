// SPDX-License-Identifier: Apache-2.0
// Trains: what endpoint_next_train() lets go is what endpoint_next() gives, packet by packet, and
// leaves the sender as that does. Two endpoints that hear the same, one asked in either way.
#include "transport_bench.h"

#define FULL 1088u
#define FULL_PS ((ps_t)FULL * BENCH_PS_PER_BYTE)
#define DEPARTURES 512u

static struct departure departures[DEPARTURES];

// The next packet of `bench` leaves on plane 0. Returns when the line is free; behind `last` when
// there is none.
static ps_t send_next(struct bench *bench, ps_t start, ps_t last)
{
	uint32_t index = endpoint_next(bench->ends[0], 0, start, &bench->out);
	if (index == PACKET_NONE)
		return last + 1;
	uint32_t bytes = packet_at(&bench->packets, index)->wire_bytes;
	outbox_send(&bench->out, 0, index, bytes, start);
	return start + (ps_t)bytes * BENCH_PS_PER_BYTE;
}

// Lets `bench` send from `start` on, up to `last`: by trains as far as they go. Returns when the
// line is free.
static ps_t send_by_trains(struct bench *bench, ps_t start, ps_t last, uint32_t *ret_in_trains)
{
	while (start <= last) {
		uint32_t before = bench->out.count;
		struct train train = {0, 0, start, last, line_of(UINT64_C(100000000000))};
		start = endpoint_next_train(bench->ends[0], &train, &bench->out);
		*ret_in_trains += bench->out.count - before;
		if (start <= last)
			start = send_next(bench, start, last);
	}
	return start;
}

static ps_t send_one_by_one(struct bench *bench, ps_t start, ps_t last)
{
	while (start <= last)
		start = send_next(bench, start, last);
	return start;
}

static void assert_same_departures(struct bench *trains, struct bench *single)
{
	assert_int_equal(trains->out.count, single->out.count);
	for (uint32_t i = 0; i < trains->out.count; i++) {
		const struct departure *a = &trains->out.departures[i];
		const struct departure *b = &single->out.departures[i];
		assert_int_equal(a->start, b->start);
		assert_int_equal(a->bytes, b->bytes);
		assert_int_equal(a->port, b->port);
		const struct packet *is = packet_at(&trains->packets, a->packet);
		const struct packet *should = packet_at(&single->packets, b->packet);
		assert_memory_equal(is, should, sizeof(*is));
	}
}

static void assert_same_state(struct bench *trains, struct bench *single)
{
	const struct qp *is = endpoint_qp(trains->ends[0], 0);
	const struct qp *should = endpoint_qp(single->ends[0], 0);
	assert_int_equal(is->psn_next, should->psn_next);
	assert_int_equal(is->inflight, should->inflight);
	assert_int_equal(is->asks_out, should->asks_out);
	assert_int_equal(is->heard_at, should->heard_at);
	assert_int_equal(is->is_queued, should->is_queued);
	assert_int_equal(is->is_stalled, should->is_stalled);
	assert_memory_equal(is->slots, should->slots,
			    (trains->ends[0]->mpr_mask + 1) * sizeof(*is->slots));
	assert_memory_equal(&trains->ends[0]->counters, &single->ends[0]->counters,
			    sizeof(trains->ends[0]->counters));
	assert_true(endpoint_wake_at(trains->ends[0]) == endpoint_wake_at(single->ends[0]));
	assert_int_equal(endpoint_has_work(trains->ends[0]), endpoint_has_work(single->ends[0]));
}

// Packets that are late: they come behind those of the window after theirs.
struct late {
	uint32_t packets[DEPARTURES], count;
};

// The other end takes what has left, but for what is lost or late, and its answers come back. What
// is late was taken for lost: where nothing left meanwhile, its repair is not needed after all.
static void answer(struct bench *bench, struct rng dice, ps_t now, struct late *late)
{
	uint32_t count = bench->out.count, late_before = late->count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = departures[i].packet, fate = rng_below(&dice, 50);
		if (fate == 0)
			packet_put(&bench->packets, index);
		else if (fate <= 2)
			late->packets[late->count++] = index;
		else
			endpoint_receive(bench->ends[1], index, now, &bench->out);
	}
	for (uint32_t i = 0; i < late_before; i++)
		endpoint_receive(bench->ends[1], late->packets[i], now, &bench->out);
	late->count -= late_before;
	memmove(late->packets, late->packets + late_before, late->count * sizeof(uint32_t));
	bench->out.count = 0;
	bench_poll(bench, 1);
	for (uint32_t plane = 0, index; plane < bench->config.planes; plane++)
		while ((index = endpoint_next(bench->ends[1], plane, now, &bench->out)) !=
		       PACKET_NONE)
			endpoint_receive(bench->ends[0], index, now, &bench->out);
	bench_poll(bench, 0);
	while (endpoint_wake_at(bench->ends[0]) <= now)
		endpoint_on_time(bench->ends[0], now, &bench->out);
}

// What closes: the window, or the range of PSNs.
struct limits {
	uint32_t window_packets, mpr;
};

static struct bench *open_as(enum path_policy policy, enum sack_rule rule, bool is_gate_full,
			     struct limits limits)
{
	struct transport_config config = bench_config();
	config.planes = 1;
	config.path_policy = policy;
	config.sack_rule = rule;
	config.hole_age_ps = 2 * PS_PER_US;
	config.cc.window_bytes = limits.window_packets * FULL;
	config.mpr = limits.mpr;
	struct bench *bench = bench_open(&config, 1, 0xffff00u, 7);
	endpoint_qp(bench->ends[0], 0)->is_gate_full = is_gate_full;
	bench->out.departures = departures;
	bench->out.capacity = DEPARTURES;
	return bench;
}

// Both send the same messages in the same windows; returns how many packets went in trains.
static uint32_t compare(enum path_policy policy, enum sack_rule rule, bool is_gate_full,
			struct limits limits)
{
	static struct departure kept[DEPARTURES];
	struct bench *trains = open_as(policy, rule, is_gate_full, limits);
	struct bench *single = open_as(policy, rule, is_gate_full, limits);
	struct rng dice = rng_of((uint64_t)policy, RNG_TEST, rule);
	ps_t free_trains = 0, free_single = 0, now = 0;
	uint32_t in_trains = 0;
	struct late late_trains = {.count = 0}, late_single = {.count = 0};
	for (uint32_t window = 0; window < 200; window++) {
		uint32_t bytes = 1 + rng_below(&dice, 200000);
		if (rng_below(&dice, 8) == 0) {
			bench_post(trains, 0, 0, bytes, window);
			bench_post(single, 0, 0, bytes, window);
		}
		// Now and then there is no time for any packet.
		ps_t last = now + (ps_t)rng_below(&dice, 100) * FULL_PS;
		if (rng_below(&dice, 4) == 0)
			last = now - 1;
		struct rng loss = rng_of(window, RNG_TEST, 1);
		free_trains = send_by_trains(trains, ps_max(free_trains, now), last, &in_trains);
		memcpy(kept, departures, sizeof(kept));
		free_single = send_one_by_one(single, ps_max(free_single, now), last);
		trains->out.departures = kept;
		assert_same_departures(trains, single);
		assert_same_state(trains, single);
		assert_true(free_trains == free_single);
		now = ps_max(last, free_single) + 1;
		answer(single, loss, now, &late_single);
		memcpy(departures, kept, sizeof(kept));
		trains->out.departures = departures;
		answer(trains, loss, now, &late_trains);
	}
	bench_close(trains);
	bench_close(single);
	return in_trains;
}

static void a_train_is_what_goes_one_by_one(void **state)
{
	(void)state;
	static const enum path_policy policies[] = {PATH_MRC, PATH_SINGLE, PATH_MIXED, PATH_REPS,
						    PATH_RANDOM};
	static const struct limits limits[] = {{12, 256}, {200, 64}};
	for (uint32_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		for (int rule = SACK_MRC; rule <= SACK_HTSIM; rule++)
			for (int full = 0; full <= 1; full++)
				for (uint32_t limit = 0; limit < 2; limit++)
					assert_in_range(compare(policies[i], (enum sack_rule)rule,
								full, limits[limit]),
							100, 20000);
}
