// SPDX-License-Identifier: Apache-2.0
// One port: exact times, strict priority, marking at held queue depths, trimming and caps. 100
// Gb/s: 80 ps a byte, so 1,000 bytes last 80 ns.

#include "fabric_port_rig.h"

static struct packet *packet_of(uint32_t index)
{
	return packet_at(&bench.rig.packets, index);
}

static uint32_t control(ps_t at)
{
	return accept(at, PACKET_CLASS_CONTROL, 64, 0);
}

static void assert_departure(uint32_t place, uint32_t packet, ps_t start, uint32_t bytes)
{
	assert_in_range(place, 0, bench.rig.out.count - 1);
	const struct departure *departure = &bench.rig.departures[place];
	assert_int_equal(departure->packet, packet);
	assert_int_equal(departure->start, start);
	assert_int_equal(departure->bytes, bytes);
	assert_int_equal(departure->port, 5);
}

static uint32_t held(enum packet_class klass)
{
	return bench.port.queues[klass].count;
}

// An idle port starts one packet at time 0 and then holds `count` data packets.
static void fill(uint32_t count, uint8_t flags)
{
	data(0, flags);
	for (uint32_t i = 0; i < count; i++)
		data(0, flags);
	assert_int_equal(held(PACKET_CLASS_DATA), count);
}

static void an_idle_port_starts_at_once(void **)
{
	uint32_t packet = data(12345, 0);
	assert_int_equal(bench.rig.out.count, 1);
	assert_departure(0, packet, 12345, PACKET_BYTES);
	assert_int_equal(bench.port.free_at, 12345 + PACKET_PS);
	assert_false(port_is_backlogged(&bench.port));
	assert_int_equal(bench.counters.queue_bytes_max, 0);
}

static void packets_follow_back_to_back(void **)
{
	uint32_t packets[4];
	for (uint32_t i = 0; i < 4; i++)
		packets[i] = data(1000 + i, 0);
	assert_int_equal(bench.counters.queue_bytes_max, 3 * PACKET_BYTES);
	advance(1000 + 3 * PACKET_PS - 1);
	assert_int_equal(bench.rig.out.count, 3);
	advance(1000 + 3 * PACKET_PS);
	assert_int_equal(bench.rig.out.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_departure(i, packets[i], 1000 + i * PACKET_PS, PACKET_BYTES);
	assert_int_equal(bench.counters.forwarded[PACKET_CLASS_DATA], 4);
}

static void a_gap_lets_the_line_rest(void **)
{
	data(0, 0);
	uint32_t exact = data(PACKET_PS, 0); // the line is just free
	uint32_t late = data(2 * PACKET_PS + 7, 0);
	assert_departure(1, exact, PACKET_PS, PACKET_BYTES);
	assert_departure(2, late, 2 * PACKET_PS + 7, PACKET_BYTES);
}

static void control_goes_before_data_but_never_interrupts(void **)
{
	uint32_t first = data(0, 0), second = data(0, 0), third = data(0, 0);
	uint32_t ack = control(PACKET_PS - 1);
	uint32_t late = control(PACKET_PS + 64 * 80); // a departure at that time comes first
	advance(PS_PER_S);
	assert_departure(0, first, 0, PACKET_BYTES);
	assert_departure(1, ack, PACKET_PS, 64);
	assert_departure(2, second, PACKET_PS + 64 * 80, PACKET_BYTES);
	assert_departure(3, late, 2 * PACKET_PS + 64 * 80, 64);
	assert_departure(4, third, 2 * PACKET_PS + 128 * 80, PACKET_BYTES);
}

static void the_first_of_equal_arrivals_wins_an_idle_port(void **)
{
	uint32_t first = data(50, 0);
	uint32_t second = data(50, 0), ack = control(50);
	advance(PS_PER_S);
	assert_departure(0, first, 50, PACKET_BYTES);
	assert_departure(1, ack, 50 + PACKET_PS, 64);
	assert_departure(2, second, 50 + PACKET_PS + 64 * 80, PACKET_BYTES);
}

// Departures from a queue that is kept at `depth` packets after each removal; returns how many of
// `count` are marked.
static uint32_t marks_at_depth(uint32_t depth, uint32_t count, uint8_t flags)
{
	bench.rig.out.count = 0;
	fill(depth, flags);
	uint32_t marked = 0;
	ps_t now = 0;
	for (uint32_t i = 0; i < count; i++) {
		data(now + 1, flags); // depth + 1 wait; the next departure leaves `depth`
		now += PACKET_PS;
		bench.rig.out.count = 0;
		advance(now);
		uint32_t packet = bench.rig.departures[0].packet;
		marked += (packet_of(packet)->flags & PACKET_CE) != 0;
		packet_put(&bench.rig.packets, packet);
	}
	assert_int_equal(bench.counters.marked, marked);
	return marked;
}

// Thresholds at 2 and 8 packets; the line that begins at the low one comes to all marks after 6
// packets, or after 30, so that it is at a fifth where the step to all of them is. Binomial bounds
// are 5 sigma: 5 * sqrt(9000 * p * (1 - p)).
static void marking_grows_linearly_between_the_thresholds(void **)
{
	const struct {
		uint32_t span, depth, low, high;
	} cases[] = {{6, 1, 0, 0},	  {6, 2, 0, 0},	      {6, 3, 1323, 1677},
		     {6, 5, 4263, 4737},  {6, 7, 7323, 7677}, {6, 8, 9000, 9000},
		     {6, 9, 9000, 9000},  {30, 2, 0, 0},      {30, 5, 758, 1042},
		     {30, 8, 1610, 1990}, {30, 9, 9000, 9000}};
	for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		port_reset(0);
		bench.port.ecn_low_bytes = 2 * PACKET_BYTES;
		bench.port.ecn_high_bytes = 8 * PACKET_BYTES;
		bench.port.ecn_span_bytes = cases[i].span * PACKET_BYTES;
		assert_in_range(marks_at_depth(cases[i].depth, 9000, PACKET_ECT), cases[i].low,
				cases[i].high);
	}
}

static void equal_thresholds_are_an_exact_step(void **)
{
	for (uint32_t depth = 1; depth < 9; depth++) {
		port_reset(0);
		bench.port.ecn_low_bytes = bench.port.ecn_high_bytes = 4 * PACKET_BYTES;
		assert_int_equal(marks_at_depth(depth, 100, PACKET_ECT), depth > 4 ? 100 : 0);
	}
}

static void only_data_that_may_be_marked_is_marked(void **)
{
	bench.port.ecn_low_bytes = bench.port.ecn_high_bytes = 1;
	assert_int_equal(marks_at_depth(5, 100, 0), 0);
	port_reset(0);
	bench.port.ecn_low_bytes = bench.port.ecn_high_bytes = 1;
	fill(5, PACKET_ECT);
	uint32_t ack = rig_packet(&bench.rig, PACKET_CLASS_CONTROL, 64, PACKET_ECT, 0);
	port_accept(&bench.port, &bench.rig.out, &bench.counters, ack, 0);
	advance(PS_PER_S);
	assert_int_equal(packet_of(ack)->flags, PACKET_ECT);
	assert_int_equal(bench.counters.marked, 4); // the last leaves an empty queue
}

static void a_full_queue_drops_what_may_not_be_trimmed(void **)
{
	fill(QUEUE_PACKETS, 0);
	uint32_t taken = packet_pool_taken(&bench.rig.packets);
	data(1, PACKET_TRIMMABLE); // trimming is off
	bench.port.trim_bytes = 64;
	data(1, 0);
	assert_int_equal(bench.counters.dropped[DROP_QUEUE_FULL], 2);
	assert_int_equal(packet_pool_taken(&bench.rig.packets), taken);
	assert_int_equal(held(PACKET_CLASS_DATA), QUEUE_PACKETS);
	assert_int_equal(bench.counters.queue_bytes_max, QUEUE_PACKETS * PACKET_BYTES);
}

static void a_queue_takes_what_just_fits(void **)
{
	fill(QUEUE_PACKETS - 1, 0);
	uint32_t fits = rig_packet(&bench.rig, PACKET_CLASS_DATA, PACKET_BYTES, 0, 0);
	uint32_t not = rig_packet(&bench.rig, PACKET_CLASS_DATA, 1, 0, 0);
	port_accept(&bench.port, &bench.rig.out, &bench.counters, fits, 0);
	port_accept(&bench.port, &bench.rig.out, &bench.counters, not, 0);
	assert_int_equal(bench.counters.dropped[DROP_QUEUE_FULL], 1);
	assert_int_equal(bench.port.queued_bytes[PACKET_CLASS_DATA], QUEUE_PACKETS * PACKET_BYTES);
}

static void a_packet_whose_departure_is_due_makes_room(void **)
{
	fill(QUEUE_PACKETS, 0);
	data(PACKET_PS, 0); // at this very time the oldest leaves
	assert_int_equal(bench.counters.dropped[DROP_QUEUE_FULL], 0);
	data(PACKET_PS, 0);
	assert_int_equal(bench.counters.dropped[DROP_QUEUE_FULL], 1);
}

static void assert_trimmed(uint32_t index, uint8_t flags)
{
	const struct packet *packet = packet_of(index);
	assert_int_equal(packet->wire_bytes, 64);
	assert_int_equal(packet->payload_bytes, 0);
	assert_int_equal(packet->klass, PACKET_CLASS_CONTROL);
	assert_int_equal(packet->flags, flags | PACKET_TRIMMABLE);
}

static void the_arriving_packet_is_trimmed_and_goes_ahead(void **)
{
	bench.port.trim_bytes = 64;
	bench.port.trim_choice = TRIM_ARRIVING;
	fill(QUEUE_PACKETS, PACKET_TRIMMABLE);
	uint32_t arriving = data(1, PACKET_TRIMMABLE);
	assert_trimmed(arriving, PACKET_TRIMMED);
	advance(PACKET_PS);
	assert_departure(1, arriving, PACKET_PS, 64);
	assert_int_equal(bench.counters.trimmed, 1);
	assert_int_equal(bench.counters.trimmed_last_hop, 0);
	assert_int_equal(bench.counters.forwarded[PACKET_CLASS_CONTROL], 1);
}

static void the_newest_packet_gives_its_place_to_the_arriving(void **)
{
	bench.port.trim_bytes = 64;
	bench.port.trim_choice = TRIM_NEWEST;
	bench.port.leads_to_nic = true;
	fill(QUEUE_PACKETS - 1, PACKET_TRIMMABLE);
	uint32_t newest = data(0, PACKET_TRIMMABLE);
	uint32_t arriving = data(1, 0); // itself it could not be trimmed
	assert_trimmed(newest, PACKET_TRIMMED | PACKET_TRIMMED_LAST);
	assert_int_equal(bench.counters.trimmed_last_hop, 1);
	advance(PS_PER_S);
	assert_int_equal(bench.rig.out.count, 2 + QUEUE_PACKETS);
	assert_departure(1, newest, PACKET_PS, 64);
	assert_departure(1 + QUEUE_PACKETS, arriving, QUEUE_PACKETS * PACKET_PS + 64 * 80,
			 PACKET_BYTES);
	assert_int_equal(bench.port.queued_bytes[PACKET_CLASS_DATA], 0);
	assert_int_equal(bench.port.queued_bytes[PACKET_CLASS_CONTROL], 0);
}

static void a_larger_packet_does_not_take_the_place_of_a_small_one(void **)
{
	bench.port.trim_bytes = 64;
	bench.port.trim_choice = TRIM_NEWEST;
	fill(QUEUE_PACKETS - 1, PACKET_TRIMMABLE);
	uint32_t small = rig_packet(&bench.rig, PACKET_CLASS_DATA, 900, PACKET_TRIMMABLE, 0);
	port_accept(&bench.port, &bench.rig.out, &bench.counters, small, 0);
	uint32_t large = rig_packet(&bench.rig, PACKET_CLASS_DATA, 1100, PACKET_TRIMMABLE, 0);
	port_accept(&bench.port, &bench.rig.out, &bench.counters, large, 0);
	assert_trimmed(large, PACKET_TRIMMED);
	assert_int_equal(packet_of(small)->wire_bytes, 900);
}

// 4,000 fair coins: 5 sigma are 158.
static void the_coin_is_fair(void **)
{
	uint32_t arriving_trimmed = 0;
	bench.port.trim_bytes = 64;
	bench.port.trim_choice = TRIM_COIN;
	for (uint32_t i = 0; i < 4000; i++) {
		fill(QUEUE_PACKETS, PACKET_TRIMMABLE);
		uint32_t arriving = data(1, PACKET_TRIMMABLE);
		arriving_trimmed += (packet_of(arriving)->flags & PACKET_TRIMMED) != 0;
		advance(PS_PER_S);
		assert_int_equal(bench.rig.out.count, 2 + QUEUE_PACKETS);
		while (bench.rig.out.count > 0)
			packet_put(&bench.rig.packets,
				   bench.rig.departures[--bench.rig.out.count].packet);
		bench.port.free_at = 0;
	}
	assert_in_range(arriving_trimmed, 2000 - 158, 2000 + 158);
	assert_int_equal(bench.counters.trimmed, 4000);
}

static void the_control_queue_has_its_own_cap(void **)
{
	bench.port.trim_bytes = 64;
	bench.port.trim_choice = TRIM_ARRIVING;
	fill(QUEUE_PACKETS, PACKET_TRIMMABLE);
	for (uint32_t i = 0; i < 9; i++)
		control(1);
	data(1, PACKET_TRIMMABLE); // the tenth header
	assert_int_equal(held(PACKET_CLASS_CONTROL), 10);
	data(1, PACKET_TRIMMABLE);
	control(1);
	assert_int_equal(held(PACKET_CLASS_CONTROL), 10);
	assert_int_equal(bench.counters.dropped[DROP_CONTROL_FULL], 2);
	assert_int_equal(bench.counters.dropped[DROP_QUEUE_FULL], 0);
	assert_int_equal(bench.counters.trimmed, 2);
}

static void an_empty_queue_takes_a_packet_larger_than_itself(void **)
{
	bench.port.limit_bytes[PACKET_CLASS_DATA] = 10;
	uint32_t first = data(0, 0), second = data(0, 0);
	data(0, 0);
	advance(PS_PER_S);
	assert_int_equal(bench.rig.out.count, 2);
	assert_departure(0, first, 0, PACKET_BYTES);
	assert_departure(1, second, PACKET_PS, PACKET_BYTES);
	assert_int_equal(bench.counters.dropped[DROP_QUEUE_FULL], 1);
}

static void a_trimmed_packet_never_grows(void **)
{
	bench.port.trim_bytes = 64;
	bench.port.trim_choice = TRIM_ARRIVING;
	bench.port.limit_bytes[PACKET_CLASS_DATA] = 10;
	fill(1, 0);
	uint32_t tiny = rig_packet(&bench.rig, PACKET_CLASS_DATA, 40, PACKET_TRIMMABLE, 0);
	port_accept(&bench.port, &bench.rig.out, &bench.counters, tiny, 0);
	assert_int_equal(packet_of(tiny)->wire_bytes, 40);
	assert_int_equal(packet_of(tiny)->klass, PACKET_CLASS_CONTROL);
}

static void a_full_outbox_is_named_and_loses_nothing(void **)
{
	bench.rig.out.capacity = 2;
	fill(5, 0);
	advance(PS_PER_S);
	assert_int_equal(bench.rig.out.limit, OUTBOX_NO_ROOM);
	assert_int_equal(bench.rig.out.count, 2);
	assert_int_equal(held(PACKET_CLASS_DATA), 4);
	bench.rig.out.capacity = RIG_DEPARTURES;
	advance(PS_PER_S);
	assert_int_equal(bench.rig.out.count, 6);
}

static int set_up(void **)
{
	rig_open(&bench.rig);
	port_reset(0);
	return 0;
}

static int tear_down(void **)
{
	rig_close(&bench.rig);
	return 0;
}
