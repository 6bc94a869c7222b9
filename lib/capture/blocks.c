// SPDX-License-Identifier: Apache-2.0
// pcapng: blocks of type, length, body, options and the length again. A section says which way
// round its numbers are, and numbers its interfaces from 0.

#include <string.h>

#include "reader.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET_OLD = 2,
	BLOCK_PACKET_SIMPLE = 3,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define BLOCK_BYTES_MIN 12 // type, length, length
#define HEAD_BYTES 8	   // type, length
#define PACKET_BYTES 20	   // in front of the frame
#define PACKET_SIMPLE_BYTES 4
#define UNITS_DEFAULT 1000000
#define SECTION_BYTES 16 // byte order, version, length
#define SECTION_LENGTH_AT 8
#define VERSION_AT 12 // in the block
#define VERSION_MAJOR 1

enum {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_NAME = 2,	// interface
	OPTION_DESCRIPTION = 3, // interface
	OPTION_PROGRAM = 4,	// section
	OPTION_SPEED = 8,	// interface
	OPTION_RESOLUTION = 9,
	OPTION_OFFSET = 14,
	OPTION_RECEIVED = 4, // statistics
	OPTION_DROPPED = 5,
	OPTION_FILTER_ACCEPTED = 6,
	OPTION_OS_DROPPED = 7,
	OPTION_DELIVERED = 8,
};

// One block that lies in the buffer.
struct block {
	uint32_t type;
	const uint8_t *body;
	uint32_t bytes; // of the body, options included
};

struct option {
	uint16_t code, bytes;
	const uint8_t *value;
};

// The option at *at, before `end`. False: none is left, or it does not fit.
static bool next_option(struct capture_reader *reader, const uint8_t **at, const uint8_t *end,
			struct option *ret)
{
	if (end - *at < 4)
		return false;
	ret->code = reader_u16(reader, *at);
	ret->bytes = reader_u16(reader, *at + 2);
	ret->value = *at + 4;
	uint32_t padded = (ret->bytes + 3u) & ~3u;
	if (ret->code == OPTION_END)
		return false;
	if (end - ret->value < (int64_t)ret->bytes) {
		reader_odd_block(reader);
		return false;
	}
	*at = end - ret->value < (int64_t)padded ? end : ret->value + padded;
	return true;
}

static void take_text(char *to, size_t room, const struct option *option)
{
	size_t bytes = option->bytes < room ? option->bytes : room - 1;
	memcpy(to, option->value, bytes);
	to[bytes] = '\0';
}

static uint64_t u64_at(const struct capture_reader *reader, const uint8_t *at)
{
	uint64_t first = reader_u32(reader, at), second = reader_u32(reader, at + 4);
	return reader->is_swapped ? first << 32 | second : second << 32 | first;
}

static uint64_t number_of(struct capture_reader *reader, const struct option *option)
{
	if (option->bytes == 4)
		return reader_u32(reader, option->value);
	if (option->bytes == 8)
		return u64_at(reader, option->value);
	reader_odd_block(reader);
	return 0;
}

// The units of a second that a resolution byte names; 0: none that a clock can have.
static uint64_t units_of(uint8_t resolution)
{
	if (resolution & 0x80)
		return (resolution & 0x7f) < 64 ? UINT64_C(1) << (resolution & 0x7f) : 0;
	uint64_t units = 1;
	for (uint8_t i = 0; i < resolution; i++)
		if (__builtin_mul_overflow(units, 10, &units))
			return 0;
	return units;
}

// ---------------------------------------------------------------- blocks that describe

// The section ends here: is this where it says?
static void end_section(struct capture_reader *reader)
{
	if (reader->section_end != 0 && reader->section_end != reader->offset)
		reader_odd_section(reader, reader->section_at);
	reader->section_end = 0;
}

// Notes where a section of `length` bytes behind its block ends. All ones: it does not say.
static void begin_section(struct capture_reader *reader, const struct block *block, uint64_t length)
{
	uint64_t behind = reader->offset + block->bytes + BLOCK_BYTES_MIN;
	reader->section_at = reader->offset;
	reader->section_end = length == UINT64_MAX ? 0 : behind + length;
	if (length != UINT64_MAX && length > UINT64_MAX - behind)
		reader->section_end = UINT64_MAX; // no file has so many
}

static void take_section(struct capture_reader *reader, const struct block *block)
{
	struct option option;
	end_section(reader);
	reader->sections++;
	reader->section_first = reader->interface_count;
	reader->section_count = 0;
	if (block->bytes < SECTION_BYTES) {
		reader_odd_section(reader, reader->offset);
		return;
	}
	begin_section(reader, block, u64_at(reader, block->body + SECTION_LENGTH_AT));
	const uint8_t *at = block->body + SECTION_BYTES, *end = block->body + block->bytes;
	while (next_option(reader, &at, end, &option)) {
		reader->comments += option.code == OPTION_COMMENT;
		if (option.code == OPTION_PROGRAM)
			take_text(reader->program, CAPTURE_TEXT_BYTES, &option);
	}
}

static void take_interface_option(struct capture_reader *reader, const struct option *option,
				  struct capture_interface *interface)
{
	if (option->code == OPTION_NAME)
		take_text(interface->name, CAPTURE_TEXT_BYTES, option);
	else if (option->code == OPTION_DESCRIPTION)
		take_text(interface->description, CAPTURE_TEXT_BYTES, option);
	else if (option->code == OPTION_SPEED)
		interface->line_bps = number_of(reader, option);
	else if (option->code == OPTION_OFFSET)
		interface->offset_s = (int64_t)number_of(reader, option);
	else if (option->code == OPTION_RESOLUTION && option->bytes == 1)
		interface->units = units_of(option->value[0]);
	else if (option->code == OPTION_RESOLUTION)
		reader_odd_block(reader);
	else if (option->code == OPTION_COMMENT)
		reader->comments++;
}

static bool is_same(const struct capture_interface *one, const struct capture_interface *other)
{
	return one->link == other->link && one->snap_bytes == other->snap_bytes &&
		one->units == other->units && one->offset_s == other->offset_s &&
		one->line_bps == other->line_bps && strcmp(one->name, other->name) == 0 &&
		strcmp(one->description, other->description) == 0;
}

// Gives the next interface of a section its place: that of the same one of an earlier section, in
// the order of this one, so that a file of many sections needs no more than one; else a new one, if
// there is room.
static void give_place(struct capture_reader *reader, const struct capture_interface *found)
{
	uint16_t *numbers = reader->section_interfaces;
	uint32_t count = reader->section_count, at = count > 0 ? numbers[count - 1] + 1u : 0;
	if (count < CAPTURE_INTERFACES_MAX)
		numbers[reader->section_count++] = CAPTURE_INTERFACES_MAX; // none, see below
	while (at < reader->section_first && !is_same(found, &reader->interfaces[at]))
		at++;
	bool is_new = at >= reader->section_first;
	at = is_new ? reader->interface_count : at;
	if (at == CAPTURE_INTERFACES_MAX) {
		reader->interfaces_left_out++;
		return;
	}
	struct capture_interface *place = &reader->interfaces[at];
	numbers[count] = (uint16_t)at;
	if (is_new) {
		reader->interface_count++;
		*place = *found;
	}
	place->earlier[0] = place->received;
	place->earlier[1] = place->dropped;
	place->earlier[2] = place->left_out;
}

static void take_interface(struct capture_reader *reader, const struct block *block)
{
	if (block->bytes < 8) {
		reader_odd_block(reader);
		return;
	}
	struct capture_interface found = {
		.link = reader_u16(reader, block->body),
		.snap_bytes = reader_u32(reader, block->body + 4),
		.units = UNITS_DEFAULT,
	};
	struct option option;
	const uint8_t *at = block->body + 8, *end = block->body + block->bytes;
	while (next_option(reader, &at, end, &option))
		take_interface_option(reader, &option, &found);
	found.is_odd = found.units == 0;
	give_place(reader, &found);
}

// The interface of this section with number `index`, or NULL.
static struct capture_interface *interface_of(struct capture_reader *reader, uint32_t index)
{
	uint32_t at = index < reader->section_count ? reader->section_interfaces[index]
						    : CAPTURE_INTERFACES_MAX;
	return at < CAPTURE_INTERFACES_MAX ? &reader->interfaces[at] : NULL;
}

static void take_statistics(struct capture_reader *reader, const struct block *block)
{
	struct capture_interface *interface = block->bytes < 12
		? NULL
		: interface_of(reader, reader_u32(reader, block->body));
	if (interface == NULL) {
		reader_odd_block(reader);
		return;
	}
	struct option option;
	const uint8_t *at = block->body + 12, *end = block->body + block->bytes;
	uint64_t received = 0, dropped = 0, delivered = 0;
	bool has_received = false, has_delivered = false;
	while (next_option(reader, &at, end, &option)) {
		if (option.code == OPTION_RECEIVED) {
			received = number_of(reader, &option);
			has_received = true;
		} else if (option.code == OPTION_DROPPED || option.code == OPTION_OS_DROPPED) {
			dropped += number_of(reader, &option);
			interface->has_dropped = true;
		} else if (option.code == OPTION_DELIVERED) {
			delivered = number_of(reader, &option);
			has_delivered = true;
		}
	}
	uint64_t kept = received - dropped;
	bool has_all = has_delivered && has_received && dropped <= received;
	interface->has_received |= has_received;
	interface->received = interface->earlier[0] + received;
	interface->dropped = interface->earlier[1] + dropped;
	interface->left_out = interface->earlier[2] +
		(has_all && delivered < kept ? kept - delivered : 0);
}

// ---------------------------------------------------------------- packets

static void take_comment(struct capture_reader *reader, const uint8_t *at, const uint8_t *end,
			 struct capture_frame *ret)
{
	struct option option;
	while (next_option(reader, &at, end, &option))
		if (option.code == OPTION_COMMENT) {
			if (ret->comment[0] == '\0')
				take_text(ret->comment, CAPTURE_COMMENT_BYTES, &option);
			reader->comments++;
		}
}

// Fills in what a packet block has. False: its lengths contradict the block.
static bool take_packet(struct capture_reader *reader, const struct block *block,
			struct capture_frame *ret)
{
	bool is_old = block->type == BLOCK_PACKET_OLD;
	if (block->bytes < PACKET_BYTES)
		return false;
	uint32_t index = is_old ? reader_u16(reader, block->body) : reader_u32(reader, block->body);
	struct capture_interface *interface = interface_of(reader, index);
	uint64_t stamp = (uint64_t)reader_u32(reader, block->body + 4) << 32 |
		reader_u32(reader, block->body + 8);
	uint32_t captured = reader_u32(reader, block->body + 12);
	uint32_t original = reader_u32(reader, block->body + 16);
	if (interface == NULL || captured > block->bytes - PACKET_BYTES)
		return false;
	const uint8_t *frame = block->body + PACKET_BYTES, *end = block->body + block->bytes;
	ret->bytes = frame;
	ret->captured = captured;
	ret->original = original < captured ? captured : original;
	ret->interface = (uint32_t)(interface - reader->interfaces);
	ret->at_ns = reader_time(reader, interface, stamp, &ret->has_time);
	uint32_t padded = (captured + 3u) & ~3u;
	if (padded < block->bytes - PACKET_BYTES)
		take_comment(reader, frame + padded, end, ret);
	interface->frames++;
	return true;
}

// A simple packet block: of interface 0, without a time, cut to its snap length.
static bool take_simple(struct capture_reader *reader, const struct block *block,
			struct capture_frame *ret)
{
	struct capture_interface *interface = interface_of(reader, 0);
	if (block->bytes < PACKET_SIMPLE_BYTES || interface == NULL)
		return false;
	uint32_t there = block->bytes - PACKET_SIMPLE_BYTES;
	ret->original = reader_u32(reader, block->body);
	ret->bytes = block->body + PACKET_SIMPLE_BYTES;
	ret->captured = ret->original;
	if (interface->snap_bytes != 0 && ret->captured > interface->snap_bytes)
		ret->captured = interface->snap_bytes;
	ret->captured = ret->captured < there ? ret->captured : there;
	ret->interface = (uint32_t)(interface - reader->interfaces);
	interface->frames++;
	return true;
}

static bool is_packet(uint32_t type)
{
	return type == BLOCK_PACKET || type == BLOCK_PACKET_OLD || type == BLOCK_PACKET_SIMPLE;
}

static void take_other(struct capture_reader *reader, const struct block *block)
{
	if (block->type == BLOCK_SECTION)
		take_section(reader, block);
	else if (block->type == BLOCK_INTERFACE)
		take_interface(reader, block);
	else if (block->type == BLOCK_STATISTICS)
		take_statistics(reader, block);
}

// Whether the block gave a frame.
static bool take_block(struct capture_reader *reader, const struct block *block,
		       struct capture_frame *ret)
{
	if (!is_packet(block->type)) {
		take_other(reader, block);
		return false;
	}
	reader_clear(ret, reader->offset);
	bool is_good = block->type == BLOCK_PACKET_SIMPLE ? take_simple(reader, block, ret)
							  : take_packet(reader, block, ret);
	if (!is_good)
		reader_odd(reader);
	else
		ret->number = ++reader->frames;
	return is_good;
}

// ---------------------------------------------------------------- blocks one after the other

// A section's head tells the order of all that follows. False: it does not.
static bool find_order(struct capture_reader *reader)
{
	for (int order = 0; order < 2; order++) {
		reader->is_swapped = order == 1;
		if (reader_u32(reader, reader_at(reader) + HEAD_BYTES) == BYTE_ORDER_MAGIC)
			return true;
	}
	return false;
}

// Reads the head of the block here: its type and whole length. False: the file ends here, or is
// damaged.
static bool read_head(struct capture_reader *reader, uint32_t *ret_type, uint32_t *ret_bytes)
{
	static const char ends[] = "it ends in the head of a block that begins at byte %, after % "
				   "bytes";
	if (!reader_need(reader, BLOCK_BYTES_MIN))
		return reader_ends(reader, ends);
	*ret_type = reader_u32(reader, reader_at(reader));
	if (*ret_type == BLOCK_SECTION && !find_order(reader))
		return reader_stop(reader, CAPTURE_DAMAGED,
				   "the section at byte % does not say its byte order",
				   (int64_t)reader->offset, 0);
	*ret_bytes = reader_u32(reader, reader_at(reader) + 4);
	if (*ret_bytes < BLOCK_BYTES_MIN || *ret_bytes % 4 != 0)
		return reader_stop(reader, CAPTURE_DAMAGED,
				   "the block at byte % claims % bytes, which none has",
				   (int64_t)reader->offset, *ret_bytes);
	return true;
}

bool pcapng_next(struct capture_reader *reader, struct capture_frame *ret)
{
	for (;;) {
		uint32_t type = 0, bytes = 0;
		if (!read_head(reader, &type, &bytes)) {
			if (reader->end == CAPTURE_WHOLE)
				end_section(reader);
			return false;
		}
		if (bytes > reader->capacity) {
			if (is_packet(type))
				reader_odd(reader);
			if (!reader_skip(reader, bytes))
				return reader_stop(reader, CAPTURE_CUT,
						   "it ends at byte %, in a block of % bytes",
						   (int64_t)reader->offset, bytes);
			continue;
		}
		if (!reader_need(reader, bytes))
			return reader_ends(reader,
					   "it ends in the block that begins at byte %, "
					   "after % bytes");
		const uint8_t *at = reader_at(reader);
		if (reader_u32(reader, at + bytes - 4) != bytes)
			return reader_stop(reader, CAPTURE_DAMAGED,
					   "the block at byte % tells two lengths",
					   (int64_t)reader->offset, 0);
		if (type == BLOCK_SECTION && bytes >= SECTION_BYTES + BLOCK_BYTES_MIN &&
		    reader_u16(reader, at + VERSION_AT) != VERSION_MAJOR)
			return reader_stop(reader, CAPTURE_DAMAGED,
					   "the section at byte % is of version %: 1 is the one "
					   "that is known",
					   (int64_t)reader->offset,
					   reader_u16(reader, at + VERSION_AT));
		struct block block = {type, at + HEAD_BYTES, bytes - BLOCK_BYTES_MIN};
		__builtin_prefetch(at + bytes); // the head of what comes next
		bool has_frame = take_block(reader, &block, ret);
		reader_take(reader, bytes);
		if (has_frame)
			return true;
	}
}
