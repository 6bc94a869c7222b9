// SPDX-License-Identifier: Apache-2.0
// The loop in wall time, two hosts over ports in memory, with a clock of the test's own: looks as
// fine as it likes, a host that does not look for a while, ports that lose, double and fill up, and
// a clock past 2^32 us.

#include "wall_pair.h"

// ---------------------------------------------------------------- tests

static void every_byte_arrives_once(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 8MiB}", "");
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 8 << 20);
	assert_int_equal(resent(pair), 0);
	assert_int_equal(counters(pair, 1)->duplicates, 0);
	assert_int_equal(wall_counts(pair->wall[0])->stalls, 0);
	assert_int_equal(counters(pair, 0)->plane_bytes[0] > 0, 1);
	assert_int_equal(counters(pair, 0)->plane_bytes[1] > 0, 1);
	pair_close(pair);
}

// A lone flow takes the time of its line when looks are fine.
static void a_fine_loop_is_as_fast_as_its_line(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 32MiB}", "");
	look(pair, PS_PER_US, PS_PER_S);
	all_is_right(pair, 32 << 20);
	ps_t line = (INT64_C(32) << 20) * 8 * (PS_PER_S / INT64_C(200000000000));
	assert_in_range(pair->now, line, line * 5 / 4);
	pair_close(pair);
}

static void what_ports_lose_is_sent_again(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 4MiB}", "");
	harm.lose_each = 97;
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 4 << 20);
	assert_true(resent(pair) > 0);
	pair_close(pair);
}

static void what_ports_double_is_placed_once(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 4MiB}", "");
	harm.double_each = 31;
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 4 << 20);
	assert_true(counters(pair, 1)->duplicates > 0);
	pair_close(pair);
}

static uint32_t held, held_max;

static bool count_taken(struct ports *ports, struct frame *frames, uint32_t count)
{
	held += count;
	held_max = held > held_max ? held : held_max;
	return inner->take(ports, frames, count);
}

static void count_sent(uint32_t, const struct frame *)
{
	held--;
}

// So the peer works on what was sent while the rest of a turn is built.
static void a_burst_is_sent_before_the_next_is_built(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 4MiB}", "");
	held = held_max = 0;
	pair->ops.take = count_taken;
	harm.seen = count_sent;
	look(pair, 20 * PS_PER_US, PS_PER_S);
	all_is_right(pair, 4 << 20);
	assert_int_equal(held, 0);
	assert_int_equal(held_max, PORT_BURST);
	assert_true(wall_counts(pair->wall[1])->burst_max > 2 * PORT_BURST); // came of one turn
	pair_close(pair);
}

// Looks are 20 us apart: a burst takes its part of that, by how many frames a turn carries.
static void bursts_are_timed_in_turns_that_carry_one(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 4MiB}", "");
	const struct hist *burst_ns = wall_counts(pair->wall[0])->burst_ns;
	look(pair, 20 * PS_PER_US, PS_PER_S);
	all_is_right(pair, 4 << 20);
	assert_true(burst_ns->total > 10);
	assert_in_range(hist_quantile(burst_ns, 500000), 20000 / 8, 20000 / 2);
	pair_close(pair);
	pair = pair_open("{from: 0, to: 1, bytes: 4KiB}", "");
	look(pair, 20 * PS_PER_US, PS_PER_S);
	assert_true(is_done(pair));
	assert_int_equal(wall_counts(pair->wall[0])->burst_ns->total, 0);
	pair_close(pair);
}

// Frames that a full port leaves are kept in order, and none is lost.
static void a_narrow_port_keeps_frames_in_order(void **)
{
	struct pair *pair = pair_open_at("{from: 0, to: 1, bytes: 4MiB}", "",
					 "100us, algorithm: fixed");
	harm.room_each = 1; // in 2 us: a sixth of the line
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 4 << 20);
	assert_int_equal(wall_counts(pair->wall[0])->frames_unsent, 0);
	assert_in_range(wall_counts(pair->wall[0])->queued_max, 64, 128); // then the host holds
	pair_close(pair);
}

static void a_frame_of_another_plane_is_not_taken(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 4MiB}", "");
	harm.cross_each = 101;
	look(pair, LOOK_PS, PS_PER_S);
	assert_true(is_done(pair));
	assert_true(wall_counts(pair->wall[1])->frames_strange > 0);
	assert_int_equal(wall_counts(pair->wall[1])->payload_bytes_good, 4 << 20);
	assert_true(resent(pair) > 0);
	pair_close(pair);
}

// A plane whose port takes nothing any more: the other one carries all.
static void a_port_that_takes_nothing_is_down(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 64MiB}", "");
	const struct wall_counts *counts = wall_counts(pair->wall[0]);
	look(pair, LOOK_PS, 200 * PS_PER_US);
	harm.is_full[1] = true;
	look(pair, LOOK_PS, 4 * PS_PER_MS);
	assert_false(is_done(pair));
	assert_int_equal(counters(pair, 0)->port_downs, 1); // and its NIC knows
	harm.is_full[1] = false;			    // and it works again
	look(pair, LOOK_PS, pair->now + 500 * PS_PER_US);
	uint64_t unsent = counts->frames_unsent, plane = counters(pair, 0)->plane_bytes[1];
	harm.room_each = 1;
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 64 << 20);
	assert_int_equal(counts->frames_unsent, unsent);
	assert_true(counters(pair, 0)->plane_bytes[1] > plane);
	pair_close(pair);
}

// When a run is done of which cables are out from 1.3 ms to 31.3 ms.
static ps_t done_without_cables(uint32_t cables, const char *transport, uint32_t told)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 1GiB}", transport);
	look(pair, LOOK_PS, PS_PER_MS + 300 * PS_PER_US);
	for (uint32_t plane = PLANES - cables; plane < PLANES; plane++)
		harm.has_no_link[plane] = true;
	look(pair, LOOK_PS, pair->now + PS_PER_MS); // both have looked
	uint64_t before = counters(pair, 0)->plane_bytes[1];
	look(pair, LOOK_PS, pair->now + 29 * PS_PER_MS);
	if (told > 0)
		assert_int_equal(counters(pair, 0)->plane_bytes[1], before);
	assert_false(is_done(pair));
	memset(harm.has_no_link, 0, sizeof(harm.has_no_link));
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 1 << 30);
	for (uint32_t host = 0; host < HOSTS; host++) {
		assert_int_equal(wall_counts(pair->wall[host])->links_lost, told);
		assert_int_equal(wall_counts(pair->wall[host])->links_back, told);
		assert_int_equal(counters(pair, host)->port_downs, told);
	}
	ps_t ret = pair->now;
	print_message("%u cables out%s: done after %u us, %u sent again\n", cables, transport,
		      (unsigned)(ret / PS_PER_US), (unsigned)resent(pair));
	pair_close(pair);
	return ret;
}

static void a_port_without_a_link_is_told_to_the_transport(void **)
{
	const char *times = pair_times;
	pair_times = "hole_age: 40us, rto: 20ms";
	ps_t untold = done_without_cables(1, ", port_status: false", 0);
	assert_true(done_without_cables(1, "", 1) + PS_PER_MS < untold);
	untold = done_without_cables(2, ", port_status: false", 0);
	ps_t told = done_without_cables(2, "", 2);
	pair_times = times;
	assert_true(told + 5 * PS_PER_MS < untold); // which waits for a timer
}

// What is shorter than transport.port_detect is never known.
static void a_link_is_known_after_its_time(void **)
{
	done_without_cables(1, ", port_detect: 35ms", 0);
	done_without_cables(1, ", port_detect: 300us", 1);
}

// A host that does not look for 5 ms: it goes on where it is, and makes up for nothing.
static void a_stall_is_no_burst(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 64MiB}", ", rto_linear: 7");
	look(pair, LOOK_PS, PS_PER_MS);
	uint64_t before = wall_counts(pair->wall[0])->frames_sent;
	pair->now += 5 * PS_PER_MS;
	wall_turn(pair->wall[0], pair->now);
	wall_turn(pair->wall[1], pair->now);
	look(pair, LOOK_PS, pair->now + 10 * PS_PER_US);
	uint64_t burst = wall_counts(pair->wall[0])->frames_sent - before;
	assert_int_equal(wall_counts(pair->wall[0])->stalls, 1);
	assert_in_range(wall_counts(pair->wall[0])->stalled_ps, 5 * PS_PER_MS,
			5 * PS_PER_MS + 2 * LOOK_PS);
	// two lines of 100 Gb/s carry 62 packets of 4 KiB in 10 us; 5 ms of them are 30,000
	assert_in_range(burst, 0, 400);
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 64 << 20);
	pair_close(pair);
}

// Turns shorter than a stall are cut into slices: their time is made up for.
static void coarse_looks_lose_no_time_of_the_machine(void **)
{
	struct pair *pair = pair_open_at("{from: 0, to: 1, bytes: 64MiB}", "", "400us");
	look(pair, 150 * PS_PER_US, PS_PER_S);
	all_is_right(pair, 64 << 20);
	assert_int_equal(wall_counts(pair->wall[0])->stalls, 0);
	assert_int_equal(wall_counts(pair->wall[0])->burst_max > 0, 1);
	pair_close(pair);
}

static void a_clock_goes_past_4294967296_us(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 4MiB}", "");
	pair->now = (INT64_C(1) << 32) * PS_PER_US - 50 * PS_PER_US; // the longest of all stalls
	look(pair, LOOK_PS, 4300 * PS_PER_S);
	all_is_right(pair, 4 << 20);
	assert_in_range(pair->now, (INT64_C(1) << 32) * PS_PER_US + 50 * PS_PER_US,
			(INT64_C(1) << 32) * PS_PER_US + 500 * PS_PER_US);
	assert_int_equal(resent(pair), 0);
	pair_close(pair);
}

static void frames_of_an_earlier_run_are_drained(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 1MiB}", "");
	for (int i = 0; i < 20; i++)
		wall_turn(pair->wall[0], pair->now += LOOK_PS);
	uint64_t sent = wall_counts(pair->wall[0])->frames_sent;
	assert_true(sent > 0);
	assert_int_equal(wall_drain(pair->wall[1]), sent);
	assert_int_equal(wall_drain(pair->wall[1]), 0);
	pair_close(pair);
}

// Bytes that are no packet, or a packet for somebody else, are counted and have no other effect.
static void garbage_has_no_effect(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 1MiB}", "");
	uint64_t bad = 0;
	for (uint32_t i = 0; i < 64; i++) {
		struct frame frame;
		assert_true(inner->take(&pair->ports, &frame, 1));
		frame.length = 20 + 7 * i;
		for (uint32_t k = 0; k < frame.length; k++)
			frame.bytes[k] = (uint8_t)(i * 31 + k * 17);
		assert_int_equal(inner->send(&pair->ports, i % PLANES, &frame, 1), 1);
	}
	while (!is_done(pair) && pair->now < PS_PER_S) {
		pair->now += LOOK_PS;
		wall_turn(pair->wall[0], pair->now);
		wall_turn(pair->wall[1], pair->now);
	}
	const struct wall_counts *counts = wall_counts(pair->wall[1]);
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		bad += counts->bad_frames[i];
	for (int i = 0; i < WALL_OTHER_COUNT; i++)
		bad += counts->others[i];
	assert_int_equal(bad + counts->frames_strange, 64);
	assert_int_equal(counts->payload_bytes_wrong, 0);
	assert_int_equal(counts->payload_bytes_good, 1 << 20);
	pair_close(pair);
}

// The last credits of a ring are nobody's work: a host that left before they had arrived would lose
// their bytes. One of these many runs loses them on the way.
static void a_ring_is_done_when_its_credits_have_arrived(void **)
{
	for (uint32_t lose_each = 3; lose_each <= 40; lose_each++) {
		struct pair *pair = pair_open_of(pair_build_of(
			"kind: ring, collective: all_reduce, channels: 1, bytes: 64KiB", "",
			"20us"));
		harm.lose_each = lose_each;
		look(pair, LOOK_PS, PS_PER_S);
		assert_true(is_done(pair));
		for (uint32_t host = 0; host < HOSTS; host++)
			assert_int_equal(wall_counts(pair->wall[host])->payload_bytes_good,
					 counters(pair, 1 - host)->payload_bytes_new);
		pair_close(pair);
	}
}

// ---------------------------------------------------------------- frames with times

#define TIMES_MAX 4096u

static ps_t times[TIMES_MAX]; // of frames with data that host 0 sends
static uint32_t time_count;

static void note_time(uint32_t host, const struct frame *frame)
{
	if (host == 0 && frame->length > 1000 && time_count < TIMES_MAX)
		times[time_count++] = frame->at;
}

static void run_with_lag(ps_t lag_ps)
{
	pair_lag_ps = lag_ps;
	struct pair *pair = pair_open_at("{from: 0, to: 1, bytes: 4MiB}", "",
					 "200us, algorithm: fixed");
	time_count = 0;
	harm.seen = note_time;
	look(pair, 50 * PS_PER_US, PS_PER_S);
	all_is_right(pair, 4 << 20);
	assert_in_range(time_count, 1024, TIMES_MAX - 1);
	pair_close(pair);
	pair_lag_ps = 0;
}

static int order_times(const void *a, const void *b)
{
	ps_t left = *(const ps_t *)a, right = *(const ps_t *)b;
	return (left > right) - (left < right);
}

// Where ports send by their clocks: a turn of 50 us sends a hundred packets and more at once, whose
// times are apart as two lines of 100 Gb/s would have sent them.
static void frames_of_a_late_turn_keep_their_distances(void **)
{
	run_with_lag(0);
	for (uint32_t i = 0; i < time_count; i++)
		assert_int_equal(times[i], 0); // at once
	run_with_lag(60 * PS_PER_US);
	ps_t each = line_ps(line_of(UINT64_C(100000000000)), 4096);
	qsort(times, time_count, sizeof(*times), order_times);
	assert_true(times[0] >= 60 * PS_PER_US);
	for (uint32_t i = 2; i < time_count; i++)
		assert_true(times[i] - times[i - 2] >= each);
}
