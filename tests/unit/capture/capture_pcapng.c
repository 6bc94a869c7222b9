// SPDX-License-Identifier: Apache-2.0
// The pcapng writer, read back block by block by a reader of its own that knows only the format.

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/capture/capture.h>
#include <weft/core/rng.h>

#define BUFFER_BYTES (1u << 20)

static uint8_t buffer[BUFFER_BYTES];

static uint32_t u32_at(size_t at)
{
	return buffer[at] | (uint32_t)buffer[at + 1] << 8 | (uint32_t)buffer[at + 2] << 16 |
		(uint32_t)buffer[at + 3] << 24;
}

static uint64_t u64_at(size_t at)
{
	return u32_at(at) | (uint64_t)u32_at(at + 4) << 32;
}

// Checks the frame of the block at `at`; returns where the next one begins.
static size_t next_block(size_t at, uint32_t type)
{
	uint32_t length = u32_at(at + 4);
	assert_int_equal(u32_at(at), type);
	assert_int_equal(length % 4, 0);
	assert_true(length >= 12);
	assert_int_equal(u32_at(at + length - 4), length);
	return at + length;
}

// Where the value of option `code` stands in the list at `at`, its length in `ret`; 0 = not there.
static size_t find_option(size_t at, size_t end, uint16_t code, uint16_t *ret)
{
	while (at < end) {
		uint16_t found = (uint16_t)u32_at(at), length = (uint16_t)(u32_at(at) >> 16);
		if (found == code) {
			*ret = length;
			return at + 4;
		}
		if (found == 0)
			return 0;
		at += 4 + ((length + 3u) & ~3u);
	}
	return 0;
}

static struct pcapng open_buffer(void)
{
	memset(buffer, 0xee, sizeof(buffer));
	return (struct pcapng){
		.at = buffer, .capacity = sizeof(buffer), .base_ns = 1700000000000000000};
}

static void the_file_begins_with_a_section_and_interfaces(void **state)
{
	struct pcapng to = open_buffer();
	const struct pcapng_interface tap = {"t0.3 up 5", "plane 0", 128, 400000000000,
					     PCAPNG_LINK_ETHERNET};
	uint16_t length;
	assert_int_equal(pcapng_begin(&to, "weft", NULL), 0);
	assert_int_equal(pcapng_interface(&to, &tap), 0);
	size_t section = next_block(0, 0x0a0d0d0a);
	assert_int_equal(u32_at(8), 0x1a2b3c4d);
	assert_int_equal(u32_at(12), 1); // version 1.0
	assert_int_equal(u64_at(16), UINT64_MAX);
	size_t end = next_block(section, 1);
	assert_int_equal(end, to.used);
	assert_int_equal(u32_at(section + 8), 1); // Ethernet
	assert_int_equal(u32_at(section + 12), 128);
	size_t name = find_option(section + 16, end - 4, 2, &length);
	assert_int_equal(length, 9);
	assert_memory_equal(buffer + name, "t0.3 up 5", 9);
	size_t speed = find_option(section + 16, end - 4, 8, &length);
	assert_int_equal(u64_at(speed), 400000000000);
	size_t resolution = find_option(section + 16, end - 4, 9, &length);
	assert_int_equal(length, 1);
	assert_int_equal(buffer[resolution], 9);
}

static void frames_come_back_as_they_were(void **state)
{
	struct pcapng to = open_buffer();
	struct rng rng = rng_of(1, RNG_TEST, 0);
	uint8_t frame[300];
	for (uint32_t captured = 0; captured < sizeof(frame); captured++) {
		for (uint32_t i = 0; i < captured; i++)
			frame[i] = (uint8_t)rng_next(&rng);
		ps_t at = (ps_t)(rng_next(&rng) >> 4);
		const struct pcapng_frame what = {captured % 3,	 at,
						  frame,	 captured,
						  captured + 64, captured % 2 ? "trimmed" : NULL,
						  NULL};
		size_t start = to.used;
		assert_int_equal(pcapng_frame(&to, &what), 0);
		assert_int_equal(next_block(start, 6), to.used);
		assert_int_equal(to.used - start, pcapng_frame_bytes(&what));
		assert_int_equal(u32_at(start + 8), captured % 3);
		uint64_t ns = (uint64_t)u32_at(start + 12) << 32 | u32_at(start + 16);
		assert_int_equal(ns, 1700000000000000000 + (uint64_t)(at / 1000));
		assert_int_equal(u32_at(start + 20), captured);
		assert_int_equal(u32_at(start + 24), captured + 64);
		assert_memory_equal(buffer + start + 28, frame, captured);
		for (uint32_t i = captured; i % 4 != 0; i++)
			assert_int_equal(buffer[start + 28 + i], 0);
		uint16_t length = 0;
		size_t comment = find_option(start + 28 + ((captured + 3u) & ~3u), to.used - 4, 1,
					     &length);
		assert_int_equal(comment != 0, captured % 2);
		assert_int_equal(length, captured % 2 ? 7 : 0);
	}
}

static void statistics_tell_what_was_lost(void **state)
{
	struct pcapng to = open_buffer();
	uint16_t length;
	const struct pcapng_counts counts = {1234567890123, 42, 0}, full = {100, 7, 3};
	assert_int_equal(pcapng_statistics(&to, 7, 5 * PS_PER_US, &counts), 0);
	assert_int_equal(next_block(0, 5), to.used);
	assert_int_equal(u32_at(8), 7);
	assert_int_equal(u64_at(find_option(20, to.used - 4, 4, &length)), 1234567890123);
	assert_int_equal(u64_at(find_option(20, to.used - 4, 5, &length)), 42);
	size_t used = to.used; // what a full file left out is no loss of the tap
	assert_int_equal(pcapng_statistics(&to, 7, 5 * PS_PER_US, &full), 0);
	assert_int_equal(u64_at(find_option(used + 20, to.used - 4, 5, &length)), 7);
	assert_int_equal(u64_at(find_option(used + 20, to.used - 4, 8, &length)), 90);
}

static void a_block_that_does_not_fit_leaves_the_buffer_alone(void **state)
{
	static const uint8_t frame[100];
	const struct pcapng_frame what = {0, 0, frame, sizeof(frame), sizeof(frame), "why", NULL};
	const struct pcapng_interface tap = {"name", "description", 0, 1, PCAPNG_LINK_ETHERNET};
	size_t whole = pcapng_frame_bytes(&what);
	for (size_t capacity = 0; capacity < whole; capacity++) {
		struct pcapng to = open_buffer();
		to.capacity = capacity;
		assert_int_equal(pcapng_frame(&to, &what), -ENOBUFS);
		assert_int_equal(to.used, 0);
		int rc = pcapng_interface(&to, &tap);
		assert_true(rc == 0 ? to.used <= capacity : rc == -ENOBUFS && to.used == 0);
		for (size_t i = capacity; i < capacity + 64; i++)
			assert_int_equal(buffer[i], 0xee); // nothing behind the end
	}
	struct pcapng to = open_buffer();
	to.capacity = whole;
	assert_int_equal(pcapng_frame(&to, &what), 0);
	assert_int_equal(to.used, whole);
}

static void long_texts_are_cut(void **state)
{
	char text[1000];
	uint16_t length;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct pcapng to = open_buffer();
	const struct pcapng_interface tap = {text, NULL, 0, 0, PCAPNG_LINK_ETHERNET};
	assert_int_equal(pcapng_interface(&to, &tap), 0);
	find_option(16, to.used - 4, 2, &length);
	assert_int_equal(length, PCAPNG_TEXT_BYTES_MAX);
	assert_int_equal(find_option(16, to.used - 4, 3, &length), 0);
}
