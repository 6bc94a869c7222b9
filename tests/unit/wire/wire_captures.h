// SPDX-License-Identifier: Apache-2.0
// Reads capture files for tests: pcap of either byte order, and the blocks of pcapng that carry
// packets. Just enough for files that are known to be well made; a file that is not ends the test.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>

#define LINK_ETHERNET 1
#define INTERFACES_MAX 16

struct capture {
	uint8_t *bytes;
	size_t size;
	size_t at;
	bool is_swapped;
	bool is_ng;
	uint16_t links[INTERFACES_MAX];
	uint32_t interfaces;
};

struct captured {
	const uint8_t *frame;
	uint32_t bytes;	     // in the file
	uint32_t line_bytes; // on the line; more than `bytes` when the frame was cut
	uint16_t link;
};

static inline uint32_t capture_32(const struct capture *capture, size_t at)
{
	uint32_t value;
	check(at + 4 <= capture->size);
	memcpy(&value, capture->bytes + at, 4);
	return capture->is_swapped ? __builtin_bswap32(value) : value;
}

static inline void capture_close(struct capture *capture)
{
	free(capture->bytes);
}

// False: no such file.
static inline bool capture_open(struct capture *capture, const char *path)
{
	FILE *file = fopen(path, "rb");
	*capture = (struct capture){0};
	if (file == NULL)
		return false;
	check(fseek(file, 0, SEEK_END) == 0);
	capture->size = (size_t)ftell(file);
	rewind(file);
	capture->bytes = malloc(capture->size);
	check(fread(capture->bytes, 1, capture->size, file) == capture->size);
	fclose(file);
	uint32_t magic = capture_32(capture, 0);
	capture->is_ng = magic == 0x0a0d0d0a;
	if (capture->is_ng) {
		capture->is_swapped = capture_32(capture, 8) != 0x1a2b3c4d;
		return true;
	}
	capture->is_swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
	magic = capture_32(capture, 0);
	check(magic == 0xa1b2c3d4 || magic == 0xa1b23c4d); // micro- or nanoseconds
	capture->links[0] = (uint16_t)capture_32(capture, 20);
	capture->at = 24;
	return true;
}

static inline bool capture_next_pcap(struct capture *capture, struct captured *ret)
{
	if (capture->at >= capture->size)
		return false;
	ret->bytes = capture_32(capture, capture->at + 8);
	ret->line_bytes = capture_32(capture, capture->at + 12);
	ret->frame = capture->bytes + capture->at + 16;
	ret->link = capture->links[0];
	capture->at += 16 + ret->bytes;
	check(capture->at <= capture->size);
	return true;
}

static inline bool capture_next_ng(struct capture *capture, struct captured *ret)
{
	while (capture->at < capture->size) {
		size_t block = capture->at;
		uint32_t type = capture_32(capture, block);
		capture->at += capture_32(capture, block + 4);
		check(capture->at > block && capture->at <= capture->size);
		if (type == 1) { // interface description: link type, reserved
			check(capture->interfaces < INTERFACES_MAX);
			capture->links[capture->interfaces++] = (uint16_t)capture_32(capture,
										     block + 8);
		} else if (type == 6) { // enhanced packet
			uint32_t interface = capture_32(capture, block + 8);
			check(interface < capture->interfaces);
			ret->bytes = capture_32(capture, block + 20);
			ret->line_bytes = capture_32(capture, block + 24);
			ret->frame = capture->bytes + block + 28;
			ret->link = capture->links[interface];
			check(block + 28 + ret->bytes <= capture->at);
			return true;
		}
	}
	return false;
}

static inline bool capture_next(struct capture *capture, struct captured *ret)
{
	return capture->is_ng ? capture_next_ng(capture, ret) : capture_next_pcap(capture, ret);
}
