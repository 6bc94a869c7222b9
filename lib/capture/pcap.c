// SPDX-License-Identifier: Apache-2.0
// pcap: a head of 24 bytes, then records of 16 bytes and a frame.

#include <errno.h>
#include <string.h>

#include "reader.h"

#define HEAD_BYTES 24
#define RECORD_BYTES 16
#define MODIFIED_RECORD_BYTES 24 // Kuznetzov's: interface index, protocol, packet type
#define VERSION_MAJOR 2
#define LINK_MASK 0xffff // the upper half tells of an FCS

// Magic numbers as they lie in a file of the other order's machine are found by `is_swapped`.
static const struct magic {
	uint32_t value;
	uint32_t units;
	bool is_modified;
} magics[] = {
	{0xa1b2c3d4, 1000000, false},
	{0xa1b23c4d, 1000000000, false},
	{0xa1b2cd34, 1000000, true},
};

static const struct magic *find_magic(struct capture_reader *reader)
{
	for (int order = 0; order < 2; order++) {
		reader->is_swapped = order == 1;
		uint32_t value = reader_u32(reader, reader_at(reader));
		for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
			if (value == magics[i].value)
				return &magics[i];
	}
	return NULL;
}

// -ENOENT: it is no pcap file.
int pcap_begin(struct capture_reader *reader, struct refusal *refusal)
{
	const struct magic *magic = find_magic(reader);
	if (magic == NULL)
		return -ENOENT;
	if (!reader_need(reader, HEAD_BYTES))
		return refuse(refusal, -EINVAL,
			      "a pcap file that ends in its head, after % of % bytes",
			      (int64_t)reader_have(reader), HEAD_BYTES);
	const uint8_t *at = reader_at(reader);
	uint16_t major = reader_u16(reader, at + 4), minor = reader_u16(reader, at + 6);
	if (major != VERSION_MAJOR)
		return refuse(refusal, -EINVAL, "pcap version %.%: 2.4 is the one that is known",
			      major, minor);
	struct capture_interface *interface = &reader->interfaces[0];
	*interface = (struct capture_interface){
		.units = magic->units,
		.snap_bytes = reader_u32(reader, at + 16),
		.link = (uint16_t)(reader_u32(reader, at + 20) & LINK_MASK),
	};
	reader->is_modified = magic->is_modified;
	reader->interface_count = 1;
	reader->sections = 1;
	reader_take(reader, HEAD_BYTES);
	return 0;
}

bool pcap_next(struct capture_reader *reader, struct capture_frame *ret)
{
	struct capture_interface *interface = &reader->interfaces[0];
	size_t head = reader->is_modified ? MODIFIED_RECORD_BYTES : RECORD_BYTES;
	if (!reader_need(reader, head))
		return reader_ends(reader,
				   "it ends in the head of a record that begins at byte %, "
				   "after % bytes");
	const uint8_t *at = reader_at(reader);
	uint32_t seconds = reader_u32(reader, at), part = reader_u32(reader, at + 4);
	uint32_t captured = reader_u32(reader, at + 8), original = reader_u32(reader, at + 12);
	if (captured > FRAME_BYTES_MAX)
		return reader_stop(reader, CAPTURE_DAMAGED,
				   "the record at byte % claims % captured bytes, which none has",
				   (int64_t)reader->offset, captured);
	if (!reader_need(reader, head + captured))
		return reader_ends(reader,
				   "it ends in the record that begins at byte %, after % "
				   "bytes");
	if (part >= interface->units)
		reader_odd_stamp(reader);
	reader_clear(ret, reader->offset);
	ret->bytes = reader_at(reader) + head;
	ret->captured = captured;
	ret->original = original < captured ? captured : original;
	ret->number = ++reader->frames;
	uint64_t stamp = (uint64_t)seconds * interface->units + part;
	ret->at_ns = reader_time(reader, interface, stamp, &ret->has_time);
	interface->frames++;
	reader_take(reader, head + captured);
	return true;
}
