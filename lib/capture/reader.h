// SPDX-License-Identifier: Apache-2.0
// What the two formats share: bytes in the buffer, numbers in the file's order, odd things
// reported.
#pragma once

#include <stddef.h>
#include <string.h>

#include <weft/capture/capture_reader.h>

#define FRAME_BYTES_MAX \
	((uint32_t)1 << 18) // libpcap's limit of a captured length; above: no record

// Steps over `bytes` bytes, whether they lie in the buffer or not. False: the file ends before.
bool reader_skip(struct capture_reader *reader, uint64_t bytes);

static inline const uint8_t *reader_at(const struct capture_reader *reader)
{
	return reader->buffer + reader->from;
}

static inline size_t reader_have(const struct capture_reader *reader)
{
	return reader->to - reader->from;
}

// Reads until there are so many.
bool reader_read(struct capture_reader *reader, size_t bytes);

// Makes `bytes` bytes of the file lie at reader_at(). False: there are not so many, or the buffer
// is smaller.
static inline bool reader_need(struct capture_reader *reader, size_t bytes)
{
	return reader_have(reader) >= bytes || reader_read(reader, bytes);
}

static inline void reader_take(struct capture_reader *reader, size_t bytes)
{
	reader->from += bytes;
	reader->offset += bytes;
}

static inline uint32_t reader_u32(const struct capture_reader *reader, const uint8_t *at)
{
	return reader->is_swapped
		? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
		: (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static inline uint16_t reader_u16(const struct capture_reader *reader, const uint8_t *at)
{
	return (uint16_t)(reader->is_swapped ? at[0] << 8 | at[1] : at[1] << 8 | at[0]);
}

// A frame with nothing in it: of its comment the end alone, for most have none.
static inline void reader_clear(struct capture_frame *ret, uint64_t offset)
{
	memset(ret, 0, offsetof(struct capture_frame, comment) + 1);
	ret->offset = offset;
}

// Ends the file here. Returns false, for capture_next(). `text` may have up to two '%'.
bool reader_stop(struct capture_reader *reader, enum capture_end end, const char *text,
		 int64_t first, int64_t second);

// The file has no more bytes, within `what` or between records.
bool reader_ends(struct capture_reader *reader, const char *what);

// A frame that is left out.
void reader_odd(struct capture_reader *reader);

// The stamp of the packet here is none of a clock.
void reader_odd_stamp(struct capture_reader *reader);

// The section that begins at `at` has not the length that it says.
void reader_odd_section(struct capture_reader *reader, uint64_t at);

// The block here contradicts itself; it counts once.
void reader_odd_block(struct capture_reader *reader);

// A stamp of `units` to nanoseconds of UNIX time.
int64_t reader_time(struct capture_reader *reader, const struct capture_interface *interface,
		    uint64_t stamp, bool *ret_has_time);

// The two formats: heads are read up to the first record; then one record after the other.
int pcap_begin(struct capture_reader *reader, struct refusal *refusal);
bool pcap_next(struct capture_reader *reader, struct capture_frame *ret);
bool pcapng_next(struct capture_reader *reader, struct capture_frame *ret);
