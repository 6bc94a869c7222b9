// SPDX-License-Identifier: Apache-2.0
// The buffer of a reader, and what both formats do with it.

#include <errno.h>
#include <string.h>

#include "reader.h"

#define STEP_BYTES ((size_t)1 << 18) // read at once: more drives what is known out of the cache
#define LINE_BYTES 64		     // of a cache

// To the front, so that what is read next begins at a line of the cache: copies to there are fast.
static void move_rest(struct capture_reader *reader, size_t bytes)
{
	size_t have = reader_have(reader);
	size_t from = -((uintptr_t)reader->buffer + have) % LINE_BYTES;
	from = from + bytes <= reader->capacity ? from : 0;
	memmove(reader->buffer + from, reader_at(reader), have);
	reader->from = from;
	reader->to = from + have;
}

bool reader_read(struct capture_reader *reader, size_t bytes)
{
	if (bytes > reader->capacity)
		return false;
	if (reader->before_move != NULL)
		reader->before_move(reader->of_move);
	move_rest(reader, bytes);
	while (reader_have(reader) < bytes && !reader->is_at_end) {
		size_t room = reader->capacity - reader->to;
		int64_t got = reader->read(reader->context, reader->buffer + reader->to,
					   room < STEP_BYTES ? room : STEP_BYTES);
		reader->is_at_end = got <= 0;
		reader->read_error = got < 0 ? got : 0;
		reader->to += got > 0 ? (size_t)got : 0;
	}
	return reader_have(reader) >= bytes;
}

bool reader_skip(struct capture_reader *reader, uint64_t bytes)
{
	while (bytes > 0) {
		if (!reader_need(reader, 1))
			return false;
		size_t step = reader_have(reader) < bytes ? reader_have(reader) : (size_t)bytes;
		reader_take(reader, step);
		bytes -= step;
	}
	return true;
}

bool reader_stop(struct capture_reader *reader, enum capture_end end, const char *text,
		 int64_t first, int64_t second)
{
	struct refusal why;
	refuse(&why, 0, text, first, second);
	memcpy(reader->why, why.text, sizeof(reader->why));
	reader->end = end;
	return false;
}

bool reader_ends(struct capture_reader *reader, const char *what)
{
	if (reader->read_error == -ENODATA)
		return reader_stop(reader, CAPTURE_CUT,
				   "what gzip packed ends early: % bytes came of it",
				   (int64_t)(reader->offset + reader_have(reader)), 0);
	if (reader->read_error == -EBADMSG)
		return reader_stop(reader, CAPTURE_DAMAGED,
				   "what gzip packed is damaged: % bytes of it could be read",
				   (int64_t)(reader->offset + reader_have(reader)), 0);
	if (reader->read_error != 0)
		return reader_stop(reader, CAPTURE_UNREAD, "the source failed at byte % (errno %)",
				   (int64_t)(reader->offset + reader_have(reader)),
				   -reader->read_error);
	if (reader_have(reader) == 0)
		return reader_stop(reader, CAPTURE_WHOLE, "", 0, 0);
	return reader_stop(reader, CAPTURE_CUT, what, (int64_t)reader->offset,
			   (int64_t)reader_have(reader));
}

void reader_odd(struct capture_reader *reader)
{
	if (reader->odd_frames++ == 0)
		reader->odd_at = reader->offset;
}

void reader_odd_stamp(struct capture_reader *reader)
{
	if (reader->odd_stamps++ == 0)
		reader->odd_stamp_at = reader->offset;
}

void reader_odd_section(struct capture_reader *reader, uint64_t at)
{
	if (reader->odd_sections++ == 0)
		reader->odd_section_at = at;
}

void reader_odd_block(struct capture_reader *reader)
{
	if (reader->odd_blocks > 0 && reader->odd_block_last == reader->offset)
		return;
	if (reader->odd_blocks++ == 0)
		reader->odd_block_at = reader->offset;
	reader->odd_block_last = reader->offset;
}

#define NS_PER_S UINT64_C(1000000000)
#define SECONDS_MAX INT64_C(9223372035) // INT64_MAX ns, in the year 2262

int64_t reader_time(struct capture_reader *reader, const struct capture_interface *interface,
		    uint64_t stamp, bool *ret_has_time)
{
	*ret_has_time = !interface->is_odd;
	if (interface->is_odd) {
		reader_odd_stamp(reader);
		return 0;
	}
	bool is_ns = interface->units == NS_PER_S; // a division by a constant is cheap
	if (is_ns && interface->offset_s == 0 && stamp <= (uint64_t)SECONDS_MAX * NS_PER_S)
		return (int64_t)stamp;
	uint64_t seconds = is_ns ? stamp / NS_PER_S : stamp / interface->units;
	uint64_t rest = stamp - seconds * interface->units;
	int64_t offset = interface->offset_s;
	bool is_far = seconds > (uint64_t)SECONDS_MAX || offset > SECONDS_MAX ||
		offset < -SECONDS_MAX || (int64_t)seconds + offset > SECONDS_MAX ||
		(int64_t)seconds + offset < 0;
	if (is_far) {
		reader_odd_stamp(reader);
		*ret_has_time = false;
		return 0;
	}
	uint64_t ns = is_ns ? rest
			    : (uint64_t)((unsigned __int128)rest * NS_PER_S / interface->units);
	return ((int64_t)seconds + offset) * (int64_t)NS_PER_S + (int64_t)ns;
}
