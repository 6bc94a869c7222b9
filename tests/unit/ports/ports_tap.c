// SPDX-License-Identifier: Apache-2.0
// Taps: what stands in their files in which order, where they listen, what is lost.

#include "ports_tap_reader.h"
#include "tap/tap_parts.h"

static uint8_t file_b[FILE_BYTES];

// ---------------------------------------------------------------- order

static void equal_keys_stay_in_their_order(void **state)
{
	static struct tap_key keys[1000], scratch[1000];
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (uint32_t count = 0; count <= 1000; count += count < 10 ? 1 : 90) {
		for (uint32_t i = 0; i < count; i++) {
			ps_t at = rng_below(&rng, 20);
			keys[i] = (struct tap_key){at, rng_below(&rng, 3), i};
		}
		const struct tap_key *sorted = tap_sort(keys, scratch, count);
		uint64_t places = 0;
		for (uint32_t i = 0; i < count; i++) {
			const struct tap_key *b = &sorted[i], *a = i > 0 ? b - 1 : b;
			places += b->place;
			if (i > 0 && a->at == b->at && a->cable == b->cable)
				assert_true(a->place < b->place);
			else
				assert_true(a->at < b->at || a->at == b->at);
			if (a->at == b->at)
				assert_true(a->cable <= b->cable);
		}
		assert_int_equal(places, (uint64_t)count * (count > 0 ? count - 1 : 0) / 2);
	}
}

static void files_are_in_order_of_time_and_cable(void **state)
{
	build_world("");
	struct tap_set *set = open_taps(path_of("a"), path_of("a.csv"), 3);
	struct packet packet = {.opcode = PACKET_WRITE_ONLY, .payload_bytes = 100};
	static const struct {
		uint32_t lane, cable;
		ps_t at;
	} takes[] = {{2, 6, 5000}, {2, 1, 5000}, {2, 1, 7000}, {0, 4, 5000},
		     {0, 4, 5000}, {1, 2, 4000}, {1, 2, 5000}, {1, 0, 9000}};
	static const uint32_t order[] = {5, 1, 6, 3, 4, 0, 2, 7};
	for (uint32_t i = 0; i < 8; i++) {
		packet.psn = i;
		tap_take(set, takes[i].lane, TAP_LOCATION(takes[i].cable, false), takes[i].at,
			 &packet, NULL, 0);
	}
	tap_window_end(set);
	packet.psn = 8;
	tap_take(set, 1, TAP_LOCATION(0, false), 10000, &packet, NULL, 0); // this window never ends
	struct tap_counts counts = close_taps(set, 12345);
	assert_int_equal(counts.frames, 9);
	assert_int_equal(counts.lost, 0);
	read_capture(path_of("a"));
	assert_int_equal(reader.frames, 9);
	assert_int_equal(reader.received, 9);
	for (uint32_t i = 0; i < 8; i++) {
		const struct read_back *seen = &reader.seen[i];
		assert_int_equal(seen->interface, takes[order[i]].cable);
		assert_int_equal(seen->ns, TAP_BASE_NS + (uint64_t)takes[order[i]].at / 1000);
		assert_int_equal(seen->bytes[14 + 40 + 8 + 11], order[i]); // PSN
	}
	file_of(path_of("a.csv"), file_b);
	char *line = strchr((char *)file_b, '\n') + 1;
	for (uint32_t i = 0; i < 8; i++, line = strchr(line, '\n') + 1) {
		char start[128], name[WORLD_CABLE_NAME_BYTES];
		world_cable_name(&world, takes[order[i]].cable, name, sizeof(name));
		snprintf(start, sizeof(start), "%lld,%s,0,0,0,0,0xca,WRITE_ONLY,,,0,%u,",
			 (long long)takes[order[i]].at, name, order[i]);
		assert_memory_equal(line, start, strlen(start));
	}
}

static void lanes_do_not_change_the_files(void **state)
{
	build_world("");
	for (uint32_t lanes = 1; lanes <= 2; lanes++) {
		struct tap_set *set = open_taps(path_of(lanes == 1 ? "a" : "b"),
						path_of(lanes == 1 ? "a.csv" : "b.csv"), lanes);
		ps_t now = take_random(set, lanes, false, 5);
		struct tap_counts counts = close_taps(set, now);
		size_t bytes = file_of(path_of(lanes == 1 ? "a" : "b"), file_a);
		bytes += file_of(path_of(lanes == 1 ? "a.csv" : "b.csv"), file_a);
		assert_int_equal(counts.frames, PACKETS);
		assert_int_equal(counts.bytes, bytes);
	}
	size_t bytes = file_of(path_of("a"), file_a);
	assert_int_equal(file_of(path_of("b"), file_b), bytes);
	assert_memory_equal(file_a, file_b, bytes);
	bytes = file_of(path_of("a.csv"), file_a);
	assert_int_equal(file_of(path_of("b.csv"), file_b), bytes);
	assert_memory_equal(file_a, file_b, bytes);
}

// ---------------------------------------------------------------- places

static void without_taps_all_cables_of_nics_are_tapped(void **state)
{
	build_world("");
	struct tap_set *set = open_taps(path_of("a"), NULL, 1);
	for (uint32_t i = 0; i < world.cable_count; i++)
		assert_int_equal(tap_listens(set, TAP_LOCATION(i, false), 0), i < NIC_CABLES);
	close_taps(set, 0);
	read_capture(path_of("a"));
	assert_int_equal(reader.interfaces, NIC_CABLES);
	for (uint32_t i = 0; i < NIC_CABLES; i++) {
		char name[WORLD_CABLE_NAME_BYTES];
		world_cable_name(&world, i, name, sizeof(name));
		assert_string_equal(reader.names[i], name);
	}
}

static void a_tap_listens_on_its_cable_in_its_time(void **state)
{
	build_world("taps:\n"
		    "  - {at: {nic: 1, plane: 0}, direction: down, from: 10us, until: 20us}\n"
		    "  - {at: {t0: 0, up: 0, plane: 0}}\n");
	struct tap_set *set = open_taps(path_of("a"), NULL, 1);
	uint32_t points = 0;
	for (uint32_t i = 0; i < world.cable_count; i++) {
		bool is_timed = i == 3;
		points += tap_listens(set, TAP_LOCATION(i, false), 15 * PS_PER_US);
		assert_int_equal(tap_listens(set, TAP_LOCATION(i, false), 15 * PS_PER_US),
				 world_cable_has_tap(&world, TAP_LOCATION(i, false)));
		assert_int_equal(tap_listens(set, TAP_LOCATION(i, false), 20 * PS_PER_US),
				 world_cable_has_tap(&world, TAP_LOCATION(i, false)) && !is_timed);
	}
	assert_int_equal(points, 3);
	close_taps(set, 0);
	read_capture(path_of("a"));
	assert_int_equal(reader.interfaces, 3);
}

static void what_finds_no_room_is_counted(void **state)
{
	const uint32_t packets = 60000;
	build_world("taps:\n  - {at: {nic: 1, plane: 0}, direction: up}\n");
	struct tap_set *set = open_taps(path_of("a"), path_of("a.csv"), 1);
	struct packet packet = {.opcode = PACKET_WRITE_MIDDLE,
				.payload_bytes = world.transport.payload_bytes,
				.u.data.message_bytes = 1 << 20};
	for (uint32_t i = 0; i < packets; i++)
		tap_take(set, 0, TAP_LOCATION(2, false), i, &packet, NULL, 0);
	tap_window_end(set);
	for (uint32_t i = 0; i < 3; i++) // there is room again
		tap_take(set, 0, TAP_LOCATION(2, false), packets + i, &packet, NULL, 0);
	struct tap_counts counts = close_taps(set, PS_PER_US);
	assert_true(counts.frames > 3);
	assert_true(counts.lost > 0);
	assert_int_equal(counts.frames + counts.lost, packets + 3);
	read_capture(path_of("a"));
	assert_int_equal(reader.frames, counts.frames);
	assert_int_equal(reader.received, packets + 3);
	assert_int_equal(reader.lost, counts.lost);
	size_t bytes = file_of(path_of("a.csv"), file_b), lines = 0;
	for (size_t i = 0; i < bytes; i++)
		lines += file_b[i] == '\n';
	assert_int_equal(lines, 1 + counts.frames);
}

// ---------------------------------------------------------------- the log

static const char expected_lines[] =
	"0,nic 1 plane 0 > t0 0,1,2,0,2,0xc9,WRITE_LAST_IMM,ect ce trimmable,ar "
	"rtx,17,1193046,0xabcd0001,65535,1156,1000,0xffffffffffffffff,0x00000007,4096,"
	"0xdeadbeef,3,65535,,,,,,,,,,,,,\n"
	"1,nic 1 plane 0 > t0 0,0,0,0,0,0xdc,SACK,,,0,0,0x00000000,0,0,0,,,,,,,-32768,"
	"32767,0x8000000000000001,0x00000005,6,1,0x85,9,255,,,,\n"
	"2,nic 1 plane 0 > t0 0,0,0,0,0,0xdd,NACK,,,0,0,0x00000000,0,0,0,,,,,,,,,,"
	"0x00000005,,,,,,77,0x01,,\n"
	"3,nic 1 plane 0 > t0 "
	"0,0,0,0,0,0xd1,ACK,,,0,0,0x00000000,0,0,0,,,,,16777215,,,,,,,,,,,,0x1f,,\n"
	"4,nic 1 plane 0 > t0 0,0,0,0,0,0xd8,ENDPOINT_REQUEST,,,2,9,0x00000000,0,0,0,"
	",,,,,,,,,,,,,,,,,0x000000f0,0\n"
	"5,nic 1 plane 0 > t0 0,0,0,0,0,0xd9,ENDPOINT_RESPONSE,,,2,9,0x00000000,0,0,0,"
	",,,,,,,,,,,,,,,,,,1\n"
	"1000000000000,nic 1 plane 0 > t0 0,1,2,0,2,0xc7,WRITE_MIDDLE,trimmed last "
	"trimmable,ar rtx,17,1193046,0xabcd0001,65535,1156,0,0xffffffffffffffff,0x00000007,"
	"4096,,3,65535,,,,,,,,,,,,,\n";

static void a_line_has_the_fields_of_its_opcode(void **state)
{
	build_world("");
	struct tap_set *set = open_taps(NULL, path_of("a.csv"), 1);
	struct packet write = {
		.source = 1,
		.target = 2,
		.ev = 0xabcd0001,
		.wire_bytes = 1156,
		.payload_bytes = 1000,
		.flags = PACKET_ECT | PACKET_CE | PACKET_TRIMMABLE,
		.hop = 2,
		.opcode = PACKET_WRITE_LAST_IMM,
		.bth = PACKET_AR | PACKET_RTX,
		.timestamp = 65535,
		.qpn = 17,
		.psn = 0x123456,
		.u.data = {UINT64_MAX, 7, 4096, 0xdeadbeef, 3, 65535},
	};
	struct packet sack = {.opcode = PACKET_SACK,
			      .klass = PACKET_CLASS_CONTROL,
			      .u.sack = {.bitmap = 0x8000000000000001,
					 .ev_echo = 5,
					 .rcvd_256 = 9,
					 .trigger_offset = -32768,
					 .offset = 32767,
					 .ooo_count = 6,
					 .mark = 1,
					 .penalty = 0x85,
					 .mpr = 255}};
	struct packet nack = {.opcode = PACKET_NACK,
			      .klass = PACKET_CLASS_CONTROL,
			      .u.nack = {.ev_echo = 5, .psn = 77, .reason = PACKET_NACK_TRIMMED}};
	struct packet ack = {.opcode = PACKET_ACK,
			     .klass = PACKET_CLASS_CONTROL,
			     .u.ack = {.msn = 0xffffff, .syndrome = PACKET_ACK_FINE}};
	struct packet request = {.opcode = PACKET_ENDPOINT_REQUEST,
				 .klass = PACKET_CLASS_CONTROL,
				 .qpn = PACKET_ENDPOINT_QPN,
				 .psn = 9,
				 .u.request = {.port_status_mask = 0xf0}};
	struct packet response = {.opcode = PACKET_ENDPOINT_RESPONSE,
				  .klass = PACKET_CLASS_CONTROL,
				  .qpn = PACKET_ENDPOINT_QPN,
				  .psn = 9,
				  .u.response = {.op = PACKET_REQUEST_EV_PROBE}};
	struct packet trimmed = write;
	trimmed.opcode = PACKET_WRITE_MIDDLE;
	trimmed.payload_bytes = 0;
	trimmed.flags = PACKET_TRIMMED | PACKET_TRIMMED_LAST | PACKET_TRIMMABLE;
	tap_take(set, 0, TAP_LOCATION(2, false), 0, &write, NULL, 0);
	tap_take(set, 0, TAP_LOCATION(2, false), 1, &sack, NULL, 0);
	tap_take(set, 0, TAP_LOCATION(2, false), 2, &nack, NULL, 0);
	tap_take(set, 0, TAP_LOCATION(2, false), 3, &ack, NULL, 0);
	tap_take(set, 0, TAP_LOCATION(2, false), 4, &request, NULL, 0);
	tap_take(set, 0, TAP_LOCATION(2, false), 5, &response, NULL, 0);
	tap_take(set, 0, TAP_LOCATION(2, false), PS_PER_S, &trimmed, NULL, 0);
	close_taps(set, PS_PER_S);
	file_of(path_of("a.csv"), file_a);
	const char *lines = strchr((char *)file_a, '\n') + 1;
	assert_string_equal(lines, expected_lines);
	size_t commas = 0;
	for (const uint8_t *at = file_a; *at != '\0'; at++)
		commas += *at == ',';
	assert_int_equal(commas, 8 * 34);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_stay_in_their_order),
		cmocka_unit_test(files_are_in_order_of_time_and_cable),
		cmocka_unit_test(lanes_do_not_change_the_files),
		cmocka_unit_test(without_taps_all_cables_of_nics_are_tapped),
		cmocka_unit_test(a_tap_listens_on_its_cable_in_its_time),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(a_line_has_the_fields_of_its_opcode),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
