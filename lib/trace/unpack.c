// SPDX-License-Identifier: Apache-2.0
// gzip through zlib. Several members one after the other are one text, as gzip itself reads them.

#include <errno.h>
#include <stdlib.h>

#include <zlib.h>

#include <weft/trace/trace.h>

#define GZIP_WINDOW (15 + 16) // the largest window; + 16: gzip's head and checksum

struct unpack {
	z_stream stream;
	char *text;
	size_t bytes, room;
	struct refusal *refusal;
};

static int damaged(const struct unpack *unpack, const char *text)
{
	return refuse(unpack->refusal, -EINVAL, text, (int64_t)unpack->stream.total_in);
}

static int more_room(struct unpack *unpack)
{
	if (unpack->room == TRACE_UNPACKED_BYTES_MAX)
		return refuse(unpack->refusal, -EINVAL,
			      "unpacked, the file has more than % MiB: too much for a trace",
			      (int64_t)(TRACE_UNPACKED_BYTES_MAX >> 20));
	size_t room = unpack->room == 0 ? 1 << 16 : unpack->room * 2;
	char *text = realloc(unpack->text, room);
	if (text == NULL)
		return refuse(unpack->refusal, -ENODEV, "no memory to unpack the file");
	unpack->text = text;
	unpack->room = room;
	return 0;
}

// One call of zlib: into what room there is. 1 when a member has ended, 0 to go on, -errno.
static int step(struct unpack *unpack)
{
	int rc = unpack->bytes == unpack->room ? more_room(unpack) : 0;
	if (rc < 0)
		return rc;
	size_t free_bytes = unpack->room - unpack->bytes;
	unpack->stream.next_out = (Bytef *)unpack->text + unpack->bytes;
	unpack->stream.avail_out = (uInt)free_bytes;
	rc = inflate(&unpack->stream, Z_NO_FLUSH);
	unpack->bytes += free_bytes - unpack->stream.avail_out;
	if (rc == Z_STREAM_END)
		return 1;
	if (rc == Z_OK && (unpack->stream.avail_in > 0 || unpack->stream.avail_out == 0))
		return 0;
	if (rc == Z_OK || rc == Z_BUF_ERROR)
		return damaged(unpack, "the packed file is cut off: it ends at byte %");
	if (rc == Z_MEM_ERROR)
		return refuse(unpack->refusal, -ENODEV, "no memory to unpack the file");
	return damaged(unpack, "the packed file is damaged before byte %");
}

static int all_members(struct unpack *unpack)
{
	int rc = 0;
	do {
		while ((rc = step(unpack)) == 0)
			;
		if (rc < 0)
			return rc;
		if (unpack->stream.avail_in > 0)
			inflateReset(&unpack->stream);
	} while (unpack->stream.avail_in > 0);
	return 0;
}

int trace_unpack(char **ret_text, size_t *ret_bytes, const char *text, size_t bytes,
		 struct refusal *refusal)
{
	struct unpack unpack = {.refusal = refusal};
	if (bytes > TRACE_UNPACKED_BYTES_MAX)
		return refuse(refusal, -EINVAL, "the packed file is too large");
	unpack.stream.next_in = (Bytef *)(uintptr_t)text;
	unpack.stream.avail_in = (uInt)bytes;
	if (inflateInit2(&unpack.stream, GZIP_WINDOW) != Z_OK)
		return refuse(refusal, -ENODEV, "no memory to unpack the file");
	int rc = all_members(&unpack);
	inflateEnd(&unpack.stream);
	if (rc < 0) {
		free(unpack.text);
		return rc;
	}
	*ret_text = unpack.text;
	*ret_bytes = unpack.bytes;
	return 0;
}
