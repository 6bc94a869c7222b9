// SPDX-License-Identifier: Apache-2.0
// pcap in both byte orders, micro- and nanoseconds; what is wrong with a file is told, with its
// place, after all that is good.

#include "capture_rig.h"

static void put_head(uint32_t magic)
{
	put(4, magic);
	put(2, 2);
	put(2, 4);
	put(8, 0);
	put(4, 96);
	put(4, 0x10000001); // an FCS behind each frame, Ethernet
}

static void put_record(uint32_t seconds, uint32_t part, uint32_t captured, uint32_t original)
{
	put(4, seconds);
	put(4, part);
	put(4, captured);
	put(4, original);
	for (uint32_t i = 0; i < captured; i++)
		put(1, i + 1);
}

static void pcap_is_read_in_either_order_and_unit(void **)
{
	for (int kind = 0; kind < 4; kind++) {
		bool is_ns = kind & 2;
		struct capture_frame frame;
		begin(kind & 1);
		put_head(is_ns ? 0xa1b23c4d : 0xa1b2c3d4);
		put_record(7, 9, 3, 1000);
		put_record(8, 0, 0, 60);
		file.step = (size_t)(kind + 1); // a pipe may give single bytes
		assert_int_equal(open_file(), 0);
		assert_true(capture_next(&reader, &frame));
		assert_int_equal(frame.at_ns, 7 * S + (is_ns ? 9 : 9000));
		assert_true(frame.has_time);
		assert_int_equal(frame.captured, 3);
		assert_int_equal(frame.original, 1000);
		assert_memory_equal(frame.bytes, "\1\2\3", 3);
		assert_int_equal(frame.number, 1);
		assert_int_equal(frame.offset, 24);
		assert_true(capture_next(&reader, &frame));
		assert_int_equal(frame.captured, 0);
		assert_int_equal(frame.offset, 24 + 16 + 3);
		assert_false(capture_next(&reader, &frame));
		assert_false(capture_next(&reader, &frame));
		assert_int_equal(reader.end, CAPTURE_WHOLE);
		assert_int_equal(reader.interfaces[0].link, 1);
		assert_int_equal(reader.interfaces[0].snap_bytes, 96);
		assert_int_equal(reader.interfaces[0].frames, 2);
		assert_false(reader.is_pcapng);
	}
}

static struct given {
	const uint8_t *at[64];
	uint32_t count;
	uint64_t seen;
} given;

// All frames since the last call are still what they were.
static void look_at_given(void *of_move)
{
	struct given *look = of_move;
	for (uint32_t i = 0; i < look->count; i++)
		for (uint32_t at = 0; at < 100; at++)
			assert_int_equal(look->at[i][at], at + 1);
	look->seen += look->count;
	look->count = 0;
}

static void frames_stay_until_the_buffer_moves(void **)
{
	struct capture_frame frame;
	uint32_t most = 0;
	begin(false);
	put_head(0xa1b2c3d4);
	for (uint32_t i = 0; i < 1000; i++)
		put_record(i, 0, 100, 100);
	file.step = 1000;
	assert_int_equal(open_file(), 0);
	given = (struct given){.count = 0};
	reader.before_move = look_at_given;
	reader.of_move = &given;
	while (capture_next(&reader, &frame)) {
		given.at[given.count++] = frame.bytes;
		most = given.count > most ? given.count : most;
	}
	reader.before_move = NULL;
	look_at_given(&given);
	assert_int_equal(given.seen, 1000);
	assert_true(most > 4);
}

// Kuznetzov's: 8 more bytes in front of each frame.
static void modified_pcap_has_longer_records(void **)
{
	struct capture_frame frame;
	begin(false);
	put_head(0xa1b2cd34);
	put(4, 1);
	put(4, 2);
	put(4, 2);
	put(4, 60);
	put(8, 0xeeeeeeeeeeeeeeee);
	put(2, 0x4241);
	assert_int_equal(open_file(), 0);
	assert_true(capture_next(&reader, &frame));
	assert_memory_equal(frame.bytes, "AB", 2);
	assert_false(capture_next(&reader, &frame));
	assert_int_equal(reader.end, CAPTURE_WHOLE);
}

static void odd_numbers_of_pcap_are_told(void **)
{
	struct capture_frame frame;
	begin(false);
	put_head(0xa1b2c3d4);
	put_record(1, 1000000, 4, 2); // a whole second of microseconds; longer than it was
	assert_int_equal(open_file(), 0);
	assert_true(capture_next(&reader, &frame));
	assert_int_equal(frame.at_ns, 2 * S);
	assert_int_equal(frame.original, 4);
	assert_int_equal(reader.odd_stamps, 1);
	begin(false);
	put_head(0xa1b2c3d4);
	put_record(1, 999999, 1, 1);
	put_record(1, 1, 0, 0);
	memset(file.bytes + file.size - 8, 0xff, 4);
	assert_int_equal(open_file(), 0);
	assert_true(capture_next(&reader, &frame));
	assert_false(capture_next(&reader, &frame));
	assert_int_equal(reader.odd_stamps, 0);
	assert_int_equal(reader.end, CAPTURE_DAMAGED);
	assert_string_equal(reader.why,
			    "the record at byte 41 claims 4294967295 captured bytes, "
			    "which none has");
}

// Cut anywhere, it gives what is whole.
static void a_cut_pcap_is_read_to_its_last_frame(void **)
{
	begin(false);
	put_head(0xa1b2c3d4);
	put_record(1, 1, 5, 5);
	put_record(2, 1, 7, 7);
	size_t whole = file.size;
	for (size_t size = 1; size < whole; size++) {
		struct capture_frame frame;
		uint32_t frames = 0;
		file.size = size;
		int rc = open_file();
		assert_int_equal(rc, size < 24 ? -EINVAL : 0);
		while (rc == 0 && capture_next(&reader, &frame))
			frames++;
		assert_int_equal(frames, size >= 24 + 21);
		if (rc == 0)
			assert_int_equal(reader.end,
					 size == 24 || size == 45 ? CAPTURE_WHOLE : CAPTURE_CUT);
		file.size = whole;
	}
}

static void a_source_that_fails_is_told(void **)
{
	struct capture_frame frame;
	begin(false);
	file.error = -EIO;
	assert_int_equal(open_file(), -EIO);
	put_head(0xa1b2c3d4);
	put_record(1, 1, 5, 5);
	assert_int_equal(open_file(), 0);
	assert_true(capture_next(&reader, &frame));
	assert_false(capture_next(&reader, &frame));
	assert_int_equal(reader.end, CAPTURE_UNREAD);
	assert_string_equal(reader.why, "the source failed at byte 45 (errno 5)");
}

static void what_is_no_capture_is_named(void **)
{
	static const struct {
		const char *bytes, *says;
	} cases[] = {
		{"\x28\xb5\x2f\xfd", "zstd"},
		{"\x1f\x8b\x08\x00", "gzip"},
		{"BZh9", "bzip2"},
		{"\xfd"
		 "7zX",
		 "xz"},
		{"{\"a\"", "JSON"},
		{"abcd", "neither pcap nor pcapng"},
		{"snoop", "snoop"},
		{"abc", "3 bytes"},
		{"", "empty"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(false);
		size_t bytes = i == 1 ? 4 : strlen(cases[i].bytes);
		memcpy(file.bytes, cases[i].bytes, bytes);
		file.size = bytes;
		assert_int_equal(open_file(), -EINVAL);
		assert_non_null(strstr(refusal.text, cases[i].says));
	}
	begin(false);
	put_head(0xa1b2c3d4);
	file.bytes[4] = 3;
	assert_int_equal(open_file(), -EINVAL);
	assert_string_equal(refusal.text, "pcap version 3.4: 2.4 is the one that is known");
}
