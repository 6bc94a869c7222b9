// SPDX-License-Identifier: Apache-2.0
// pcapng: sections, interfaces, clocks, statistics and comments; what is wrong with a file is told,
// with its place, after all that is good.

#include "capture_rig.h"

static size_t block_at;

static void open_block(uint32_t type)
{
	block_at = file.size;
	put(4, type);
	put(4, 0);
}

static void close_block(void)
{
	uint32_t bytes = (uint32_t)(file.size - block_at) + 4;
	put(4, bytes);
	memcpy(file.bytes + block_at + 4, file.bytes + file.size - 4, 4);
}

static void put_option(uint16_t code, uint16_t bytes, uint64_t value)
{
	put(2, code);
	put(2, bytes);
	put(bytes, value);
	while (file.size % 4 != 0)
		put(1, 0);
}

static void put_text(uint16_t code, const char *text)
{
	put(2, code);
	put(2, strlen(text));
	for (; *text != '\0'; text++)
		put(1, (uint8_t)*text);
	while (file.size % 4 != 0)
		put(1, 0);
}

static void put_section_of(const char *program, uint16_t version, uint64_t length)
{
	open_block(0x0a0d0d0a);
	put(4, 0x1a2b3c4d);
	put(2, version);
	put(2, 0);
	put(8, length);
	put_text(4, program);
	put_text(1, "a comment");
	put(4, 0);
	close_block();
}

static void put_section(const char *program)
{
	put_section_of(program, 1, UINT64_MAX);
}

// `resolution` 0: not said.
static void put_interface(const char *name, uint16_t link, uint8_t resolution, int64_t offset_s)
{
	open_block(1);
	put(2, link);
	put(2, 0);
	put(4, 0);
	put_text(2, name);
	put_text(3, "where it is");
	put_option(8, 8, 400000000000);
	if (resolution != 0)
		put_option(9, 1, resolution);
	if (offset_s != 0)
		put_option(14, 8, (uint64_t)offset_s);
	close_block();
}

static void put_packet(uint32_t interface, uint64_t stamp, uint32_t captured, uint32_t original)
{
	open_block(6);
	put(4, interface);
	put(4, stamp >> 32);
	put(4, stamp & UINT32_MAX);
	put(4, captured);
	put(4, original);
	for (uint32_t i = 0; i < captured; i++)
		put(1, i + 1);
	while (file.size % 4 != 0)
		put(1, 0);
	put_text(1, "look here");
	close_block();
}

static void put_statistics(uint32_t interface, uint64_t received, uint64_t dropped)
{
	open_block(5);
	put(4, interface);
	put(8, 0);
	put_option(4, 8, received);
	put_option(5, 8, dropped);
	put_option(7, 8, 2);
	close_block();
}

static void pcapng_has_interfaces_with_clocks_of_their_own(void **)
{
	static const int64_t wanted_ns[] = {5 * S + 1000, 5 * S + 1, 5 * S + S / 1024, 5 * S + 1,
					    8 * S + 1};
	for (int order = 0; order < 2; order++) {
		struct capture_frame frame;
		begin(order == 1);
		put_section("maker");
		put_interface("one", 1, 0, 0);
		put_interface("two", 101, 9, 0);
		put_interface("three", 1, 0x80 | 10, 0);
		put_interface("four", 1, 12, 0);
		put_interface("five", 1, 9, 3);
		put_packet(0, 5000001, 3, 90);
		put_packet(1, 5 * S + 1, 3, 90);
		put_packet(2, 5 * 1024 + 1, 4, 4);
		put_packet(3, 5 * UINT64_C(1000000000000) + 1999, 5, 5);
		put_packet(4, 5 * S + 1, 5, 5);
		put_statistics(1, 77, 5);
		file.step = 100;
		assert_int_equal(open_in(512), 0);
		for (uint32_t i = 0; i < 5; i++) {
			assert_true(capture_next(&reader, &frame));
			assert_int_equal(frame.at_ns, wanted_ns[i]);
			assert_int_equal(frame.interface, i);
			assert_int_equal(frame.number, i + 1);
			assert_string_equal(frame.comment, "look here");
		}
		assert_false(capture_next(&reader, &frame));
		assert_int_equal(reader.end, CAPTURE_WHOLE);
		assert_int_equal(reader.interface_count, 5);
		assert_string_equal(reader.interfaces[1].name, "two");
		assert_string_equal(reader.interfaces[1].description, "where it is");
		assert_int_equal(reader.interfaces[1].link, 101);
		assert_int_equal(reader.interfaces[1].line_bps, 400000000000);
		assert_int_equal(reader.interfaces[1].received, 77);
		assert_int_equal(reader.interfaces[1].dropped, 7);
		assert_true(reader.interfaces[1].has_dropped && !reader.interfaces[0].has_dropped);
		assert_int_equal(reader.comments, 6);
		assert_string_equal(reader.program, "maker");
		free(reader.buffer);
		reader.buffer = NULL;
	}
}

// Each section counts its interfaces from 0 and has an order of its own.
static void sections_follow_one_another(void **)
{
	struct capture_frame frame;
	begin(false);
	put_section("first");
	put_interface("a", 1, 9, 0);
	put_packet(0, 1, 1, 1);
	file.is_big = true;
	put_section("second");
	put_interface("b", 113, 9, 0);
	put_packet(0, 2, 1, 1);
	put_packet(1, 3, 1, 1); // there is none here
	assert_int_equal(open_file(), 0);
	assert_true(capture_next(&reader, &frame));
	assert_int_equal(frame.interface, 0);
	assert_true(capture_next(&reader, &frame));
	assert_int_equal(frame.interface, 1);
	assert_string_equal(reader.interfaces[1].name, "b");
	assert_int_equal(frame.at_ns, 2);
	assert_false(capture_next(&reader, &frame));
	assert_int_equal(reader.odd_frames, 1);
	assert_int_equal(reader.sections, 2);
	assert_string_equal(reader.program, "second");
}

// Files of one capture, one behind the other: an interface that a later section has again is the
// same one, whatever number it has there, and its drops add up. Two that are alike in one section
// are two.
static void sections_share_their_interfaces(void **)
{
	struct capture_frame frame;
	enum { files = 450 };
	begin(false);
	for (uint32_t i = 0; i < files; i++) {
		put_section("ring");
		if (i % 2 == 0)
			put_interface("a", 1, 9, 0);
		put_interface("b", 1, 9, 0);
		put_interface("b", 1, 9, 0);
		put_packet(i % 2 == 0 ? 2 : 1, i, 1, 1);
		put_statistics(i % 2 == 0 ? 2 : 1, 50, 5);
		put_statistics(i % 2 == 0 ? 2 : 1, 100, 10);
	}
	assert_int_equal(open_file(), 0);
	for (uint32_t i = 0; i < files; i++) {
		assert_true(capture_next(&reader, &frame));
		assert_int_equal(frame.at_ns, i);
		assert_int_equal(frame.interface, 2);
	}
	assert_false(capture_next(&reader, &frame));
	assert_int_equal(reader.end, CAPTURE_WHOLE);
	assert_int_equal(reader.odd_frames + reader.interfaces_left_out, 0);
	assert_int_equal(reader.interface_count, 3);
	assert_int_equal(reader.interfaces[2].received, 100 * files);
	assert_int_equal(reader.interfaces[2].dropped, 12 * files);
	assert_int_equal(reader.interfaces[2].frames, files);
	assert_false(reader.interfaces[1].has_received);
}

static void simple_and_old_packets_are_read(void **)
{
	struct capture_frame frame;
	begin(false);
	put_section("x");
	put_interface("a", 1, 9, 0);
	open_block(3);
	put(4, 3);
	put(4, 0x00434241);
	close_block();
	open_block(2);
	put(2, 0);
	put(2, 9);		   // drops
	put(8, (uint64_t)4 << 32); // upper half first
	put(4, 2);
	put(4, 50);
	put(4, 0x4241);
	close_block();
	assert_int_equal(open_file(), 0);
	assert_true(capture_next(&reader, &frame));
	assert_false(frame.has_time);
	assert_int_equal(frame.captured, 3);
	assert_memory_equal(frame.bytes, "ABC", 3);
	assert_true(capture_next(&reader, &frame));
	assert_int_equal(frame.at_ns, 4);
	assert_int_equal(frame.original, 50);
	assert_false(capture_next(&reader, &frame));
	assert_int_equal(reader.end, CAPTURE_WHOLE);
}

// A resolution that no clock has, a stamp beyond the year 2262: frames without a time.
static void odd_clocks_give_no_time(void **)
{
	struct capture_frame frame;
	begin(false);
	put_section("x");
	put_interface("a", 1, 30, 0);
	put_interface("b", 1, 0xff, 0);
	put_interface("c", 1, 9, INT64_MAX);
	put_interface("d", 1, 0x81, 0);
	put_packet(0, 1, 1, 1);
	put_packet(1, 1, 1, 1);
	put_packet(2, 1, 1, 1);
	put_packet(3, UINT64_MAX, 1, 1);
	assert_int_equal(open_file(), 0);
	for (int i = 0; i < 4; i++) {
		assert_true(capture_next(&reader, &frame));
		assert_false(frame.has_time);
		assert_int_equal(frame.at_ns, 0);
		assert_int_equal(reader.interfaces[i].is_odd, i < 2);
	}
	assert_int_equal(reader.odd_stamps, 4);
}

static void a_packet_longer_than_its_block_is_left_out(void **)
{
	struct capture_frame frame;
	begin(false);
	put_section("x");
	put_interface("a", 1, 9, 0);
	size_t at = file.size;
	put_packet(0, 1, 4, 4);
	file.bytes[at + 20] = 200; // its captured length
	put_packet(0, 2, 1, 1);
	assert_int_equal(open_file(), 0);
	assert_true(capture_next(&reader, &frame));
	assert_int_equal(frame.at_ns, 2);
	assert_int_equal(reader.odd_frames, 1);
	assert_int_equal(reader.odd_at, at);
}

// Blocks that the buffer cannot hold are stepped over; a packet among them is counted.
static void a_block_larger_than_the_buffer_is_stepped_over(void **)
{
	struct capture_frame frame;
	begin(false);
	put_section("x");
	put_interface("a", 1, 9, 0);
	open_block(0xbad);
	for (int i = 0; i < 1000; i++)
		put(4, (uint64_t)i);
	close_block();
	put_packet(0, 1, 2000, 2000);
	put_packet(0, 2, 1, 1);
	file.step = 777;
	assert_int_equal(open_in(1024), 0);
	assert_true(capture_next(&reader, &frame));
	assert_int_equal(frame.at_ns, 2);
	assert_int_equal(reader.odd_frames, 1);
	assert_false(capture_next(&reader, &frame));
	assert_int_equal(reader.end, CAPTURE_WHOLE);
}

// Two sections, each with an interface and a packet: 116 bytes.
static void sections_are_as_long_as_they_say(void **)
{
	static const struct {
		uint64_t first, second;
		uint32_t odd; // of the two
		bool is_second;
	} cases[] = {{116, 116, 0, false},	     {116, UINT64_MAX, 0, false},
		     {115, 116, 1, false},	     {116, 112, 1, true},
		     {120, 120, 2, false},	     {0, 116, 1, false},
		     {116, UINT64_MAX - 4, 1, true}, {UINT64_C(1) << 63, 1, 2, false}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture_frame frame;
		size_t begins[2];
		begin(i % 2 == 1);
		for (int section = 0; section < 2; section++) {
			begins[section] = file.size;
			put_section_of("x", 1, section == 0 ? cases[i].first : cases[i].second);
			size_t behind = file.size;
			put_interface("a", 1, 9, 0);
			put_packet(0, 1, 4, 4);
			assert_int_equal(file.size - behind, 116);
		}
		assert_int_equal(open_file(), 0);
		for (int frames = 0; frames < 2; frames++)
			assert_true(capture_next(&reader, &frame));
		assert_false(capture_next(&reader, &frame));
		assert_int_equal(reader.end, CAPTURE_WHOLE);
		assert_int_equal(reader.odd_sections, cases[i].odd);
		if (cases[i].odd > 0)
			assert_int_equal(reader.odd_section_at, begins[cases[i].is_second]);
	}
}

static void a_section_of_another_version_ends_the_file(void **)
{
	struct capture_frame frame;
	begin(true);
	put_section("x");
	put_interface("a", 1, 9, 0);
	put_packet(0, 1, 4, 4);
	put_section_of("y", 2, UINT64_MAX);
	put_packet(0, 1, 4, 4);
	assert_int_equal(open_file(), 0);
	assert_true(capture_next(&reader, &frame));
	assert_false(capture_next(&reader, &frame));
	assert_int_equal(reader.end, CAPTURE_DAMAGED);
	assert_non_null(strstr(reader.why, "is of version 2"));
}

// Each block but the last is read as far as it goes; each counts once.
static void options_that_cannot_be_are_counted_with_their_place(void **)
{
	struct capture_frame frame;
	begin(false);
	put_section("x");
	open_block(1); // a resolution of 2 bytes, a speed of 3, a name beyond the end
	put(2, 1);
	put(2, 0);
	put(4, 0);
	put_option(9, 2, 9);
	put_option(8, 3, 100);
	put(2, 2);
	put(2, 5);
	put(4, 0x64636261);
	close_block();
	size_t first = block_at;
	put_interface("b", 1, 9, 0);
	put_packet(1, 1, 4, 4);
	file.bytes[file.size - 4 - 9 - 3 - 2] = 200; // the length of its comment
	put_statistics(1, 10, 1);
	put_statistics(7, 10, 1); // there is none
	open_block(1);
	put(4, 1); // it ends there
	close_block();
	put_packet(1, 2, 4, 4);
	assert_int_equal(open_file(), 0);
	assert_true(capture_next(&reader, &frame));
	assert_int_equal(reader.interfaces[0].units, 1000000);
	assert_int_equal(reader.interfaces[0].line_bps, 0);
	assert_int_equal(frame.captured, 4);
	assert_int_equal(frame.comment[0], 0);
	assert_int_equal(reader.odd_blocks, 2);
	assert_int_equal(reader.odd_block_at, first);
	assert_true(capture_next(&reader, &frame));
	assert_string_equal(frame.comment, "look here");
	assert_false(capture_next(&reader, &frame));
	assert_int_equal(reader.end, CAPTURE_WHOLE);
	assert_int_equal(reader.odd_blocks, 4);
	assert_int_equal(reader.odd_frames + reader.odd_sections, 0);
}

static void a_damaged_block_ends_the_file(void **)
{
	static const struct {
		uint8_t to; // the first byte of the length
		const char *says;
	} cases[] = {{0, "tells two lengths"}, {13, "claims 13 bytes"}, {8, "claims 8 bytes"}};
	for (size_t i = 0; i < 3; i++) {
		struct capture_frame frame;
		begin(false);
		put_section("x");
		put_interface("a", 1, 9, 0);
		put_packet(0, 1, 1, 1);
		size_t at = file.size;
		put_packet(0, 2, 1, 1);
		if (i == 0)
			file.bytes[file.size - 4] = 1;
		else
			file.bytes[at + 4] = cases[i].to;
		assert_int_equal(open_file(), 0);
		assert_true(capture_next(&reader, &frame));
		assert_false(capture_next(&reader, &frame));
		assert_int_equal(reader.end, CAPTURE_DAMAGED);
		assert_non_null(strstr(reader.why, cases[i].says));
	}
}

// Cut anywhere, it gives what is whole.
static void a_cut_pcapng_is_read_to_its_last_frame(void **)
{
	begin(true);
	put_section("x");
	put_interface("a", 1, 9, 0);
	size_t section = block_at, none = file.size;
	put_packet(0, 1, 5, 5);
	size_t one = file.size;
	put_packet(0, 2, 6, 6);
	size_t whole = file.size;
	for (size_t size = 4; size < whole; size++) {
		struct capture_frame frame;
		uint32_t frames = 0;
		file.size = size;
		assert_int_equal(open_file(), 0);
		while (capture_next(&reader, &frame))
			frames++;
		assert_int_equal(frames, size >= one);
		bool is_end = size == section || size == none || size == one;
		assert_int_equal(reader.end == CAPTURE_WHOLE, is_end);
		assert_int_not_equal(reader.end, CAPTURE_DAMAGED);
	}
}
