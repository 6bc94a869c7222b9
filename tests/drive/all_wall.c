// SPDX-License-Identifier: Apache-2.0
// The loop in wall time, two hosts over ports in memory, with a clock of the test's own: looks as
// fine as it likes, a host that does not look for a while, ports that lose, double and fill up, and
// a clock past 2^32 us.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/files/files.h>
#include <weft/ports/codec.h>
#include <weft/wall/wall.h>
#include <weft/world/world.h>

#define PLANES 2u
#define HOSTS 2u
#define MEMORY_BYTES ((size_t)512 << 20)
#define STALL_PS (200 * PS_PER_US)
#define DEAD_PS (2 * PS_PER_MS)
#define LOOK_PS (2 * PS_PER_US)

// What a test does to frames on their way.
struct harm {
	uint32_t lose_each, double_each; // every so many-th; 0: none
	bool is_full[PLANES];		 // ports of host 0 that take nothing
	uint32_t room_each;		 // frames that a queue takes between looks; 0: all
	uint32_t room[HOSTS * PLANES];
	uint32_t cross_each; // every so many-th leaves by the other plane
	uint64_t sent;
};

struct pair {
	struct scenario scenario;
	struct arena arena[HOSTS], ports_arena;
	void *memory[HOSTS + 1];
	struct world world[HOSTS];
	struct wall *wall[HOSTS];
	struct ports ports;
	const struct ports_ops *inner;
	struct ports_ops ops;
	struct refusal refusal;
	ps_t now;
};

static struct harm harm;
static const struct ports_ops *inner;

static bool copy(struct ports *ports, uint32_t queue, const struct frame *frame)
{
	struct frame again;
	if (!inner->take(ports, &again, 1))
		return false;
	memcpy(again.bytes, frame->bytes, frame->length);
	again.length = frame->length;
	again.cable = frame->cable;
	return inner->send(ports, queue, &again, 1) == 1;
}

static bool comes(uint32_t each)
{
	return each > 0 && harm.sent % each == 0;
}

static uint32_t harmful_send(struct ports *ports, uint32_t queue, const struct frame *frames,
			     uint32_t count)
{
	uint32_t at = 0;
	for (; at < count; at++) {
		void *owner = frames[at].owner;
		if ((queue < PLANES && harm.is_full[queue]) ||
		    (harm.room_each > 0 && harm.room[queue] == 0))
			return at;
		harm.room[queue] -= harm.room_each > 0;
		harm.sent++;
		if (comes(harm.lose_each)) {
			inner->give(ports, &owner, 1);
			continue;
		}
		if (comes(harm.double_each))
			copy(ports, queue, &frames[at]);
		if (inner->send(ports, comes(harm.cross_each) ? queue ^ 1 : queue, &frames[at],
				1) == 0)
			return at;
	}
	return at;
}

static void open_ports(struct pair *pair)
{
	static struct port_cable cables[HOSTS * PLANES];
	struct codec codec;
	for (uint32_t i = 0; i < HOSTS * PLANES; i++)
		cables[i] = (struct port_cable){0, 0, 2048};
	pair->ports = (struct ports){.frames = 16384};
	assert_int_equal(port_plan(&pair->ports, &pair->ports_arena, cables, HOSTS * PLANES,
				   HOSTS * PLANES, &pair->refusal),
			 0);
	assert_int_equal(codec_init(&codec, &pair->world[0], &pair->refusal), 0);
	pair->ports.frame_bytes_max = codec.frame_bytes_max;
	assert_int_equal(port_memory_open(&pair->ports, &pair->ports_arena, &pair->refusal), 0);
	inner = pair->ports.ops;
	pair->ops = *inner;
	pair->ops.send = harmful_send;
	pair->ports.ops = &pair->ops;
}

// Host 0 sends by queues 0 .. planes - 1, host 1 by those behind.
static void open_wall(struct pair *pair, uint32_t host)
{
	struct wall_way ways[PLANES];
	for (uint32_t plane = 0; plane < PLANES; plane++)
		ways[plane] = (struct wall_way){plane, WALL_ANY_HOST, (1 - host) * PLANES + plane,
						host * PLANES + plane};
	const struct wall_options options = {.host = host,
					     .ports = &pair->ports,
					     .ways = ways,
					     .way_count = PLANES,
					     .stall_ps = STALL_PS,
					     .dead_ps = DEAD_PS};
	if (wall_create(&pair->wall[host], &pair->world[host], &options, &pair->refusal) < 0)
		fail_msg("%s", pair->refusal.text);
}

static struct pair *pair_open_at(const char *flows, const char *transport, const char *rtt)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	char text[1024];
	harm = (struct harm){0};
	snprintf(text, sizeof(text),
		 "fabric: {nics: 2, planes: 2, nics_per_t0: 2, t1_count: 1, link_rate: 100Gb/s}\n"
		 "transport: {evs: 16, hole_age: 40us, rto: 1ms%s}\n"
		 "cc: {base_rtt: %s}\n"
		 "traffic: {kind: flows, flows: [%s]}\n"
		 "limits: {time: 10000s}\n",
		 transport, rtt, flows);
	assert_non_null(pair);
	if (scenario_parse(&pair->scenario, "pair", text, strlen(text), NULL, 0, &pair->refusal) <
	    0)
		fail_msg("%s", pair->refusal.text);
	for (uint32_t i = 0; i <= HOSTS; i++)
		assert_non_null(pair->memory[i] = memory_reserve(MEMORY_BYTES));
	arena_init(&pair->ports_arena, pair->memory[HOSTS], MEMORY_BYTES);
	for (uint32_t host = 0; host < HOSTS; host++) {
		arena_init(&pair->arena[host], pair->memory[host], MEMORY_BYTES);
		if (world_build(&pair->world[host], &pair->arena[host], &pair->scenario, NULL, 0,
				&pair->refusal) < 0)
			fail_msg("%s", pair->refusal.text);
	}
	open_ports(pair);
	for (uint32_t host = 0; host < HOSTS; host++)
		open_wall(pair, host);
	return pair;
}

static struct pair *pair_open(const char *flows, const char *transport)
{
	return pair_open_at(flows, transport, "20us");
}

static void pair_close(struct pair *pair)
{
	for (uint32_t host = 0; host < HOSTS; host++) {
		struct tap_counts taps;
		assert_int_equal(wall_close(pair->wall[host], &taps, &pair->refusal), 0);
	}
	for (uint32_t i = 0; i < HOSTS * PLANES; i++) { // what still lies there
		struct frame frames[PORT_BURST];
		uint32_t count;
		while ((count = inner->receive(&pair->ports, i, frames, PORT_BURST)) > 0)
			for (uint32_t k = 0; k < count; k++)
				inner->give(&pair->ports, &frames[k].owner, 1);
	}
	assert_int_equal(inner->taken(&pair->ports), 0);
	for (uint32_t i = 0; i <= HOSTS; i++)
		memory_release(pair->memory[i], MEMORY_BYTES);
	free(pair);
}

static bool is_done(const struct pair *pair)
{
	return wall_is_done(pair->wall[0]) && wall_is_done(pair->wall[1]);
}

// Both look, `look_ps` apart, until all is done or `until` is over.
static void look(struct pair *pair, ps_t look_ps, ps_t until)
{
	while (!is_done(pair) && pair->now < until) {
		pair->now += look_ps;
		for (uint32_t i = 0; i < HOSTS * PLANES; i++)
			harm.room[i] = harm.room_each;
		wall_turn(pair->wall[0], pair->now);
		wall_turn(pair->wall[1], pair->now + look_ps / 2);
	}
}

static const struct transport_counters *counters(struct pair *pair, uint32_t host)
{
	world_collect(&pair->world[host]);
	return &pair->world[host].outcome->transport;
}

static void all_is_right(struct pair *pair, uint64_t bytes)
{
	const struct wall_counts *counts = wall_counts(pair->wall[1]);
	assert_true(is_done(pair));
	assert_int_equal(counters(pair, 1)->payload_bytes_placed, bytes);
	assert_int_equal(counts->payload_bytes_good, bytes);
	assert_int_equal(counts->payload_bytes_wrong, 0);
	assert_int_equal(counts->frames_strange, 0);
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		assert_int_equal(counts->bad_frames[i], 0);
}

static uint64_t resent(struct pair *pair)
{
	const struct transport_counters *count = counters(pair, 0);
	uint64_t sum = 0;
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		sum += count->rtx[i];
	return sum;
}

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
	assert_true(counts->frames_unsent > 0);
	assert_false(is_done(pair));
	harm.is_full[1] = false; // and it works again
	look(pair, LOOK_PS, pair->now + 500 * PS_PER_US);
	uint64_t unsent = counts->frames_unsent, plane = counters(pair, 0)->plane_bytes[1];
	harm.room_each = 1;
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 64 << 20);
	assert_int_equal(counts->frames_unsent, unsent);
	assert_true(counters(pair, 0)->plane_bytes[1] > plane);
	pair_close(pair);
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
	for (int i = 0; i < WIRE_FOUND_COUNT; i++)
		bad += counts->others[i];
	assert_int_equal(bad + counts->frames_strange, 64);
	assert_int_equal(counts->payload_bytes_wrong, 0);
	assert_int_equal(counts->payload_bytes_good, 1 << 20);
	pair_close(pair);
}

static void send_strange(struct pair *pair, const uint8_t *bytes, uint32_t length)
{
	struct frame frame;
	assert_true(inner->take(&pair->ports, &frame, 1));
	memset(frame.bytes, 0, 64);
	memcpy(frame.bytes, bytes, length);
	frame.length = 64;
	assert_int_equal(inner->send(&pair->ports, 0, &frame, 1), 1);
}

static void frames_of_others_are_counted_by_kind(void **)
{
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 64KiB}", "");
	static const uint8_t arp[] = {[0] = 255, 255, 255, 255, 255, 255, [12] = 0x08, 0x06};
	static const uint8_t lldp[] = {[0] = 1, 0x80, 0xc2, 0, 0, 0x0e, [12] = 0x88, 0xcc};
	static const uint8_t pause[] = {[0] = 1, 0x80, 0xc2, 0, 0, 1, [12] = 0x88, 0x08, 1, 1};
	static const uint8_t roce1[] = {[12] = 0x89, 0x15};
	static const uint8_t tcp[] = {[12] = 0x08, 0x00, 0x45, 0, 0, 40, [23] = 6};
	static const uint8_t dhcp[] = {
		[12] = 0x08, 0x00, 0x45, 0, 0, 50, [23] = 17, [34] = 0, 68, 0, 67, 0, 30};
	static const uint8_t neighbour[] = {[12] = 0x86, 0xdd, 0x60, [19] = 8, 58, 255};
	send_strange(pair, arp, sizeof(arp));
	send_strange(pair, lldp, sizeof(lldp));
	send_strange(pair, pause, sizeof(pause));
	send_strange(pair, roce1, sizeof(roce1));
	send_strange(pair, tcp, sizeof(tcp));
	send_strange(pair, dhcp, sizeof(dhcp));
	send_strange(pair, neighbour, sizeof(neighbour));
	look(pair, LOOK_PS, PS_PER_S);
	all_is_right(pair, 64 << 10);
	const struct wall_counts *counts = wall_counts(pair->wall[1]);
	static const enum wire_found found[] = {WIRE_FOUND_ARP,	  WIRE_FOUND_LLDP, WIRE_FOUND_PAUSE,
						WIRE_FOUND_ROCE1, WIRE_FOUND_TCP,  WIRE_FOUND_UDP,
						WIRE_FOUND_IP};
	for (size_t i = 0; i < sizeof(found) / sizeof(*found); i++)
		if (counts->others[found[i]] != 1)
			fail_msg("%s: %u", wire_found_name(found[i]),
				 (unsigned)counts->others[found[i]]);
	pair_close(pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_arrives_once),
		cmocka_unit_test(a_fine_loop_is_as_fast_as_its_line),
		cmocka_unit_test(what_ports_lose_is_sent_again),
		cmocka_unit_test(what_ports_double_is_placed_once),
		cmocka_unit_test(a_narrow_port_keeps_frames_in_order),
		cmocka_unit_test(a_frame_of_another_plane_is_not_taken),
		cmocka_unit_test(a_port_that_takes_nothing_is_down),
		cmocka_unit_test(a_stall_is_no_burst),
		cmocka_unit_test(coarse_looks_lose_no_time_of_the_machine),
		cmocka_unit_test(a_clock_goes_past_4294967296_us),
		cmocka_unit_test(frames_of_an_earlier_run_are_drained),
		cmocka_unit_test(garbage_has_no_effect),
		cmocka_unit_test(frames_of_others_are_counted_by_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
