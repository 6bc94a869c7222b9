// SPDX-License-Identifier: Apache-2.0
// A reader of captures for tests, which knows only the format.
#pragma once

#include "ports_tap_rig.h"

#define FRAMES_MAX 4096

struct read_back {
	uint32_t interface, captured, original;
	uint64_t ns;
	const uint8_t *bytes;
};

struct reader {
	uint32_t interfaces, statistics, frames;
	uint64_t received, lost;
	char names[64][WORLD_CABLE_NAME_BYTES];
	struct read_back seen[FRAMES_MAX];
};

static struct reader reader;

__attribute__((unused)) static uint32_t u32_at(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

__attribute__((unused)) static void read_block(const uint8_t *at)
{
	switch (u32_at(at)) {
	case 1: // the name is the first option
		assert_int_equal(at[16], 2);
		memcpy(reader.names[reader.interfaces++], at + 20, at[18]);
		break;
	case 5:
		assert_int_equal(u32_at(at + 8), reader.statistics);
		reader.statistics++;
		reader.received += u32_at(at + 24);
		reader.lost += u32_at(at + 36);
		break;
	case 6:
		assert_true(reader.frames < FRAMES_MAX);
		reader.seen[reader.frames++] = (struct read_back){
			.interface = u32_at(at + 8),
			.ns = (uint64_t)u32_at(at + 12) << 32 | u32_at(at + 16),
			.captured = u32_at(at + 20),
			.original = u32_at(at + 24),
			.bytes = at + 28,
		};
		break;
	default:
		assert_int_equal(u32_at(at), 0x0a0d0d0a);
	}
}

// Reads the whole of `path` into `reader`; frames stay in file_a.
__attribute__((unused)) static void read_capture(const char *path)
{
	size_t bytes = file_of(path, file_a), at = 0;
	memset(&reader, 0, sizeof(reader));
	while (at < bytes) {
		uint32_t length = u32_at(file_a + at + 4);
		assert_true(length >= 12 && length <= bytes - at);
		read_block(file_a + at);
		at += length;
	}
	assert_int_equal(reader.statistics, reader.interfaces);
}
