// SPDX-License-Identifier: Apache-2.0
// Which format a file has, and its frames one after the other.

#include <errno.h>
#include <string.h>

#include "reader.h"

#define HEAD_BYTES 4

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
	return refuse(refusal, -EINVAL,
		      "neither pcap nor pcapng (an ERF file has no header to know it by: "
		      "convert it with editcap)");
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
