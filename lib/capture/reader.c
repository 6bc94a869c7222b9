// SPDX-License-Identifier: Apache-2.0
// The buffer of a reader, and which format a file has.

#include <errno.h>
#include <string.h>

#include "reader.h"

#define HEAD_BYTES 4
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

#define NS_PER_S UINT64_C(1000000000)
#define SECONDS_MAX INT64_C(9223372035) // INT64_MAX ns, in the year 2262

int64_t reader_time(struct capture_reader *reader, const struct capture_interface *interface,
		    uint64_t stamp, bool *ret_has_time)
{
	*ret_has_time = !interface->is_odd;
	if (interface->is_odd)
		return 0;
	bool is_ns = interface->units == NS_PER_S; // a division by a constant is cheap
	uint64_t seconds = is_ns ? stamp / NS_PER_S : stamp / interface->units;
	uint64_t rest = stamp - seconds * interface->units;
	int64_t offset = interface->offset_s;
	bool is_far = seconds > (uint64_t)SECONDS_MAX || offset > SECONDS_MAX ||
		offset < -SECONDS_MAX || (int64_t)seconds + offset > SECONDS_MAX ||
		(int64_t)seconds + offset < 0;
	if (is_far) {
		reader->odd_stamps++;
		*ret_has_time = false;
		return 0;
	}
	uint64_t ns = is_ns ? rest
			    : (uint64_t)((unsigned __int128)rest * NS_PER_S / interface->units);
	return ((int64_t)seconds + offset) * (int64_t)NS_PER_S + (int64_t)ns;
}

// ---------------------------------------------------------------- which format

// Files that people take for captures, by their first bytes.
static const struct look {
	uint8_t bytes[HEAD_BYTES];
	uint8_t count;
	const char *says;
} looks[] = {
	{{0x28, 0xb5, 0x2f, 0xfd}, 4, "packed by zstd: use zstd -dc FILE | weft pcap analyze -"},
	{{0xfd, '7', 'z', 'X'}, 4, "packed by xz: use xz -dc FILE | weft pcap analyze -"},
	{{0x04, 0x22, 0x4d, 0x18}, 4, "packed by lz4: use lz4 -dc FILE | weft pcap analyze -"},
	{{'B', 'Z', 'h'}, 3, "packed by bzip2: use bzip2 -dc FILE | weft pcap analyze -"},
	{{'P', 'K', 3, 4}, 4, "a zip archive: unpack it first"},
	{{0x1f, 0x8b}, 2, "packed by gzip: unpack it first"},
	{{'s', 'n', 'o', 'o'}, 4, "a snoop capture, which is not read: editcap makes pcap of it"},
	{{'R', 'T', 'S', 'S'}, 4, "a capture of Network Monitor: editcap makes pcap of it"},
	{{'G', 'M', 'B', 'U'}, 4, "a capture of Network Monitor 2: editcap makes pcap of it"},
	{{'<', '?', 'x', 'm'}, 4, "XML, not packets"},
	{{'{'}, 1, "JSON, not packets"},
};

static int refuse_format(struct capture_reader *reader, struct refusal *refusal)
{
	const uint8_t *at = reader_at(reader);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		if (memcmp(at, looks[i].bytes, looks[i].count) == 0)
			return refuse(refusal, -EINVAL, looks[i].says);
	return refuse(
		refusal, -EINVAL,
		"neither pcap nor pcapng: its first bytes are none of theirs (an ERF file has "
		"no head; editcap makes pcap of it)");
}

int capture_begin(struct capture_reader *reader, struct refusal *refusal)
{
	size_t from = offsetof(struct capture_reader, end);
	memset((uint8_t *)reader + from, 0, offsetof(struct capture_reader, interfaces) - from);
	if (!reader_need(reader, HEAD_BYTES)) {
		if (reader->read_error == -ENODATA || reader->read_error == -EBADMSG)
			return refuse(refusal, -EINVAL,
				      "what gzip packed is cut or damaged before the head of a "
				      "capture");
		if (reader->read_error != 0)
			return refuse(refusal, -EIO, "cannot be read (errno %)",
				      -reader->read_error);
		if (reader_have(reader) == 0)
			return refuse(refusal, -EINVAL, "it is empty");
		return refuse(refusal, -EINVAL, "it has % bytes, less than the head of a capture",
			      (int64_t)reader_have(reader));
	}
	static const uint8_t section[HEAD_BYTES] = {0x0a, 0x0d, 0x0d, 0x0a};
	reader->is_pcapng = memcmp(reader_at(reader), section, HEAD_BYTES) == 0;
	if (reader->is_pcapng)
		return 0;
	int rc = pcap_begin(reader, refusal);
	return rc == -ENOENT ? refuse_format(reader, refusal) : rc;
}

bool capture_next(struct capture_reader *reader, struct capture_frame *ret)
{
	if (reader->end != CAPTURE_OPEN)
		return false;
	return reader->is_pcapng ? pcapng_next(reader, ret) : pcap_next(reader, ret);
}

const char *capture_end_name(enum capture_end end)
{
	static const char *const names[] = {"open", "whole", "cut", "damaged", "unread"};
	return names[end];
}
