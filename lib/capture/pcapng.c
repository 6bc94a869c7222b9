// SPDX-License-Identifier: Apache-2.0
// Writing pcapng blocks. A block is: type, total length, body padded to 4 bytes, options, total
// length again. An option is: code, length, value padded to 4 bytes; code 0 ends the list.

#include <errno.h>
#include <string.h>

#include <weft/capture/capture.h>

enum block_type {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};

enum option {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_NAME = 2,	     // interface
	OPTION_DESCRIPTION = 3,	     // interface
	OPTION_USER_APPLICATION = 4, // section
	OPTION_SPEED = 8,	     // interface
	OPTION_TIME_RESOLUTION = 9,  // interface
	OPTION_RECEIVED = 4,	     // statistics
	OPTION_LOST = 5,	     // statistics
	OPTION_DELIVERED = 8,	     // statistics
};

#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define NANOSECONDS 9	      // time stamps count 10^-9 s
#define BLOCK_FRAME_BYTES 12  // type and both lengths
#define PACKET_FIXED_BYTES 20 // interface, time (8), captured, original

// A block being written.
struct block {
	struct pcapng *to;
	size_t start;
	size_t used;
	int rc;
};

static size_t padded(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

static void put(struct block *block, const void *bytes, size_t count)
{
	size_t room = block->to->capacity - block->used;
	if (block->rc < 0 || padded(count) > room) {
		block->rc = -ENOBUFS;
		return;
	}
	uint8_t *at = block->to->at + block->used;
	memcpy(at, bytes, count);
	memset(at + count, 0, padded(count) - count);
	block->used += padded(count);
}

// Numbers are written byte by byte: the file is the same on every machine.
static void put_number(struct block *block, uint64_t value, size_t bytes)
{
	uint8_t number[8];
	for (size_t i = 0; i < bytes; i++)
		number[i] = (uint8_t)(value >> (8 * i));
	put(block, number, bytes);
}

static void put_u32(struct block *block, uint32_t value)
{
	put_number(block, value, 4);
}

// Two 16-bit numbers.
static void put_pair(struct block *block, uint16_t first, uint16_t second)
{
	put_u32(block, (uint32_t)second << 16 | first);
}

static size_t text_bytes(const char *text)
{
	size_t bytes = text == NULL ? 0 : strlen(text);
	return bytes > PCAPNG_TEXT_BYTES_MAX ? PCAPNG_TEXT_BYTES_MAX : bytes;
}

static void put_text(struct block *block, enum option code, const char *text)
{
	size_t bytes = text_bytes(text);
	if (bytes == 0)
		return;
	put_pair(block, (uint16_t)code, (uint16_t)bytes);
	put(block, text, bytes);
}

static void put_option(struct block *block, enum option code, uint64_t value, size_t bytes)
{
	put_pair(block, (uint16_t)code, (uint16_t)bytes);
	put_number(block, value, bytes);
}

static struct block begin(struct pcapng *to, enum block_type type)
{
	struct block block = {.to = to, .start = to->used, .used = to->used};
	put_u32(&block, type);
	put_u32(&block, 0); // the length, known at the end
	return block;
}

static int end(struct block *block)
{
	uint32_t length = (uint32_t)(block->used - block->start) + 4;
	put_u32(block, length);
	if (block->rc < 0)
		return block->rc;
	struct block head = {.to = block->to, .used = block->start + 4};
	put_u32(&head, length);
	block->to->used = block->used;
	return 0;
}

int pcapng_begin(struct pcapng *to, const char *program, const char *comment)
{
	struct block block = begin(to, BLOCK_SECTION);
	put_u32(&block, BYTE_ORDER_MAGIC);
	put_pair(&block, 1, 0);		   // version
	put_number(&block, UINT64_MAX, 8); // length of the section: not given
	put_text(&block, OPTION_COMMENT, comment);
	put_text(&block, OPTION_USER_APPLICATION, program);
	put_u32(&block, OPTION_END);
	return end(&block);
}

int pcapng_interface(struct pcapng *to, const struct pcapng_interface *interface)
{
	struct block block = begin(to, BLOCK_INTERFACE);
	put_pair(&block, interface->link, 0);
	put_u32(&block, interface->snap_bytes);
	put_text(&block, OPTION_NAME, interface->name);
	put_text(&block, OPTION_DESCRIPTION, interface->description);
	if (interface->line_bps > 0)
		put_option(&block, OPTION_SPEED, interface->line_bps, 8);
	put_option(&block, OPTION_TIME_RESOLUTION, NANOSECONDS, 1);
	put_u32(&block, OPTION_END);
	return end(&block);
}

// High half first, as the format has it.
static void put_time(struct block *block, const struct pcapng *to, ps_t at)
{
	uint64_t ns = to->base_ns + (uint64_t)(at / PS_PER_NS);
	put_u32(block, (uint32_t)(ns >> 32));
	put_u32(block, (uint32_t)ns);
}

static size_t comment_bytes(const char *text)
{
	size_t bytes = text_bytes(text);
	return bytes == 0 ? 0 : 4 + padded(bytes);
}

size_t pcapng_frame_bytes(const struct pcapng_frame *frame)
{
	size_t options = comment_bytes(frame->comment) + comment_bytes(frame->second);
	options += options > 0 ? 4 : 0; // their end
	return BLOCK_FRAME_BYTES + PACKET_FIXED_BYTES + padded(frame->captured) + options;
}

int pcapng_frame(struct pcapng *to, const struct pcapng_frame *frame)
{
	if (pcapng_frame_bytes(frame) > to->capacity - to->used)
		return -ENOBUFS;
	struct block block = begin(to, BLOCK_PACKET);
	put_u32(&block, frame->interface);
	put_time(&block, to, frame->at);
	put_u32(&block, frame->captured);
	put_u32(&block, frame->original);
	put(&block, frame->bytes, frame->captured);
	put_text(&block, OPTION_COMMENT, frame->comment);
	put_text(&block, OPTION_COMMENT, frame->second);
	if (comment_bytes(frame->comment) + comment_bytes(frame->second) > 0)
		put_u32(&block, OPTION_END);
	return end(&block);
}

int pcapng_statistics(struct pcapng *to, uint32_t interface, ps_t at,
		      const struct pcapng_counts *counts)
{
	struct block block = begin(to, BLOCK_STATISTICS);
	put_u32(&block, interface);
	put_time(&block, to, at);
	put_option(&block, OPTION_RECEIVED, counts->received, 8);
	put_option(&block, OPTION_LOST, counts->lost, 8);
	if (counts->left_out > 0)
		put_option(&block, OPTION_DELIVERED,
			   counts->received - counts->lost - counts->left_out, 8);
	put_u32(&block, OPTION_END);
	return end(&block);
}
