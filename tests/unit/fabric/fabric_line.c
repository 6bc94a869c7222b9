// SPDX-License-Identifier: Apache-2.0
// A port whose queues count the packet on the line (PORT_LINE): the same times, one packet less of
// room, and marks by what lies there when the last bit has left. 100 Gb/s: 1,000 bytes last 80 ns.

#include "fabric_port_rig.h"

#define ARRIVALS 4000u

static uint8_t flags_of(uint32_t packet)
{
	return packet_at(&bench.rig.packets, packet)->flags;
}

// The same random arrivals into a port, which is also asked at times when nothing arrives.
// Remembers when which one, by number, began to leave.
static void leave(uint8_t special, bool is_asked_often, struct departure *ret, uint32_t *ret_count)
{
	struct rng rng = rng_of(3, RNG_PORT, 1);
	uint32_t first = 0;
	ps_t at = 0;
	port_reset(special);
	bench.port.limit_bytes[PACKET_CLASS_DATA] = UINT32_MAX;
	bench.port.limit_bytes[PACKET_CLASS_CONTROL] = UINT32_MAX;
	for (uint32_t i = 0; i < ARRIVALS; i++) {
		bool is_data = rng_below(&rng, 4) > 0;
		at += rng_below(&rng, 2 * PACKET_PS);
		uint32_t index = accept(at, is_data ? PACKET_CLASS_DATA : PACKET_CLASS_CONTROL,
					is_data ? PACKET_BYTES : 64, 0);
		first = i == 0 ? index : first;
		if (is_asked_often && i % 3 == 0)
			advance(at + 777);
	}
	advance(PS_PER_S);
	*ret_count = bench.rig.out.count;
	for (uint32_t i = 0; i < bench.rig.out.count; i++) {
		ret[i] = bench.rig.departures[i];
		ret[i].packet -= first;
	}
	for (uint32_t i = bench.rig.out.count; i-- > 0;)
		packet_put(&bench.rig.packets, first + i); // so that the next run has the same
}

static void times_are_those_of_any_port(void **)
{
	static struct departure usual[ARRIVALS], line[ARRIVALS], asked[ARRIVALS];
	uint32_t count, line_count, asked_count;
	leave(0, false, usual, &count);
	leave(PORT_LINE, false, line, &line_count);
	leave(PORT_LINE, true, asked, &asked_count);
	assert_int_equal(count, ARRIVALS);
	assert_int_equal(line_count, ARRIVALS);
	assert_int_equal(asked_count, ARRIVALS);
	for (uint32_t i = 0; i < ARRIVALS; i++) {
		assert_int_equal(line[i].start, usual[i].start);
		assert_int_equal(line[i].packet, usual[i].packet);
		assert_memory_equal(&line[i], &asked[i], sizeof(line[i]));
	}
}

static void a_packet_is_emitted_when_it_is_out(void **)
{
	port_reset(PORT_LINE);
	data(500, 0);
	advance(500 + PACKET_PS - 1);
	assert_int_equal(bench.rig.out.count, 0);
	assert_int_equal(bench.port.free_at, 500 + PACKET_PS);
	assert_true(port_is_backlogged(&bench.port));
	advance(500 + PACKET_PS);
	assert_int_equal(bench.rig.out.count, 1);
	assert_int_equal(bench.rig.departures[0].start, 500);
	assert_false(port_is_backlogged(&bench.port));
}

static void the_packet_on_the_line_takes_room(void **)
{
	port_reset(PORT_LINE);
	for (uint32_t i = 0; i < QUEUE_PACKETS; i++)
		data(0, 0);
	assert_int_equal(bench.counters.dropped[DROP_QUEUE_FULL], 0);
	data(PACKET_PS - 1, 0);
	assert_int_equal(bench.counters.dropped[DROP_QUEUE_FULL], 1);
	data(PACKET_PS, 0); // at this very time the oldest is out
	assert_int_equal(bench.counters.dropped[DROP_QUEUE_FULL], 1);
	assert_int_equal(bench.counters.queue_bytes_max, QUEUE_PACKETS * PACKET_BYTES);
}

// A threshold of one byte: who leaves anything behind is marked.
static void marks_see_what_came_meanwhile(void **)
{
	port_reset(PORT_LINE);
	bench.port.ecn_low_bytes = bench.port.ecn_high_bytes = 1;
	uint32_t alone = data(0, PACKET_ECT);
	uint32_t before = data(PACKET_PS, PACKET_ECT); // when the first is just out
	uint32_t last = data(2 * PACKET_PS - 1, PACKET_ECT);
	advance(PS_PER_S);
	assert_int_equal(flags_of(alone), PACKET_ECT);
	assert_int_equal(flags_of(before), PACKET_ECT | PACKET_CE);
	assert_int_equal(flags_of(last), PACKET_ECT);
	assert_int_equal(bench.counters.marked, 1);
}

static void what_is_on_the_line_is_not_trimmed(void **)
{
	port_reset(PORT_LINE);
	bench.port.trim_bytes = 64;
	bench.port.trim_choice = TRIM_NEWEST;
	bench.port.limit_bytes[PACKET_CLASS_DATA] = PACKET_BYTES;
	uint32_t first = data(0, PACKET_TRIMMABLE), second = data(10, PACKET_TRIMMABLE);
	assert_int_equal(flags_of(first), PACKET_TRIMMABLE);
	assert_int_equal(flags_of(second), PACKET_TRIMMABLE | PACKET_TRIMMED);
	advance(PS_PER_S);
	assert_int_equal(bench.rig.departures[0].bytes, PACKET_BYTES);
	assert_int_equal(bench.rig.departures[1].bytes, 64);
}

static void the_rate_of_the_start_counts(void **)
{
	static const struct rate_change changes[] = {{PACKET_PS / 2, 500000000}};
	struct port_beside beside = {.nominal = {.line = line_of(UINT64_C(100000000000))}};
	port_reset(PORT_LINE | PORT_SLOWS);
	bench.port.beside = &beside;
	bench.port.slow = changes;
	bench.port.slow_count = 1;
	for (uint32_t i = 0; i < 3; i++)
		data(0, 0);
	data(PACKET_PS - 1, 0); // after the change
	advance(PS_PER_S);
	assert_int_equal(bench.rig.departures[0].start, 0);
	assert_int_equal(bench.rig.departures[1].start, PACKET_PS);
	assert_int_equal(bench.rig.departures[2].start, 3 * PACKET_PS);
	assert_int_equal(bench.rig.departures[3].start, 5 * PACKET_PS);
}

static int set_up(void **)
{
	rig_open(&bench.rig);
	return 0;
}

static int tear_down(void **)
{
	rig_close(&bench.rig);
	return 0;
}
