// SPDX-License-Identifier: Apache-2.0
// Unpacks what gzip packed while it is read: what is packed lies in a buffer, unpacked bytes go
// where the reader wants them.

#include <weft/capture/capture_gunzip.h>

#include <errno.h>
#include <string.h>

#include <isa-l/igzip_lib.h>

#define PACKED_BYTES ((size_t)1 << 18)
#define FIRST_BYTES 4096 // of what may not be packed, and then is copied once more
#define MAGIC_BYTES 2
#define MAGIC_FIRST 0x1f
#define MAGIC_SECOND 0x8b

struct capture_gunzip {
	struct inflate_state inflate;
	capture_read_fn *read;
	void *context;
	size_t from, to; // what there is in `packed`
	bool has_begun, is_packed, is_at_end, is_in_member;
	int64_t error; // reported once what is before it has been given out
	uint8_t packed[PACKED_BYTES];
};

size_t capture_gunzip_bytes(void)
{
	return sizeof(struct capture_gunzip);
}

struct capture_gunzip *capture_gunzip_begin(void *memory, capture_read_fn *read, void *context)
{
	struct capture_gunzip *gunzip = memory;
	gunzip->read = read;
	gunzip->context = context;
	gunzip->from = gunzip->to = 0;
	gunzip->has_begun = gunzip->is_packed = false;
	gunzip->is_at_end = gunzip->is_in_member = false;
	gunzip->error = 0;
	return gunzip;
}

// Adds to what is packed, until it has `bytes` or the file ends.
static void need(struct capture_gunzip *gunzip, size_t bytes)
{
	if (gunzip->from == gunzip->to)
		gunzip->from = gunzip->to = 0;
	while (gunzip->to - gunzip->from < bytes && !gunzip->is_at_end && gunzip->error == 0) {
		size_t room = PACKED_BYTES - gunzip->to;
		if (!gunzip->has_begun && room > FIRST_BYTES)
			room = FIRST_BYTES;
		int64_t got = gunzip->read(gunzip->context, gunzip->packed + gunzip->to, room);
		gunzip->is_at_end = got == 0;
		gunzip->error = got < 0 ? got : 0;
		gunzip->to += got > 0 ? (size_t)got : 0;
	}
}

static bool is_magic(const struct capture_gunzip *gunzip)
{
	const uint8_t *at = gunzip->packed + gunzip->from;
	return gunzip->to - gunzip->from >= MAGIC_BYTES && at[0] == MAGIC_FIRST &&
		at[1] == MAGIC_SECOND;
}

static void begin_member(struct capture_gunzip *gunzip)
{
	isal_inflate_init(&gunzip->inflate);
	gunzip->inflate.crc_flag = ISAL_GZIP;
	gunzip->is_in_member = true;
}

// Unpacks a piece into `to`. Returns how many bytes came of it.
static size_t unpack(struct capture_gunzip *gunzip, uint8_t *to, size_t bytes)
{
	struct inflate_state *inflate = &gunzip->inflate;
	uint32_t room = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	inflate->next_in = gunzip->packed + gunzip->from;
	inflate->avail_in = (uint32_t)(gunzip->to - gunzip->from);
	inflate->next_out = to;
	inflate->avail_out = room;
	int rc = isal_inflate(inflate);
	gunzip->from = gunzip->to - inflate->avail_in;
	if (rc != ISAL_DECOMP_OK)
		gunzip->error = -EBADMSG;
	if (inflate->block_state == ISAL_BLOCK_FINISH)
		gunzip->is_in_member = false;
	return room - inflate->avail_out;
}

// The next member begins, the file ends, or what follows is none of gzip's, which gzip leaves out.
static void step_on(struct capture_gunzip *gunzip)
{
	memmove(gunzip->packed, gunzip->packed + gunzip->from, gunzip->to - gunzip->from);
	gunzip->to -= gunzip->from;
	gunzip->from = 0;
	need(gunzip, MAGIC_BYTES);
	if (is_magic(gunzip))
		begin_member(gunzip);
	else
		gunzip->is_at_end = true;
}

static int64_t read_packed(struct capture_gunzip *gunzip, uint8_t *to, size_t bytes)
{
	for (;;) {
		if (gunzip->error == -EBADMSG)
			return gunzip->error;
		if (!gunzip->is_in_member) {
			if (gunzip->is_at_end)
				return gunzip->error;
			step_on(gunzip);
			continue;
		}
		if (gunzip->from == gunzip->to)
			need(gunzip, 1);
		bool has_more = gunzip->from < gunzip->to;
		size_t got = unpack(gunzip, to, bytes);
		if (got > 0)
			return (int64_t)got;
		if (!has_more && gunzip->is_in_member)
			return gunzip->error != 0 ? gunzip->error : -ENODATA;
	}
}

int64_t capture_gunzip_read(void *context, void *to, size_t bytes)
{
	struct capture_gunzip *gunzip = context;
	if (!gunzip->has_begun) {
		need(gunzip, MAGIC_BYTES);
		gunzip->has_begun = true;
		gunzip->is_packed = is_magic(gunzip);
		if (gunzip->is_packed)
			begin_member(gunzip);
	}
	if (gunzip->is_packed)
		return read_packed(gunzip, to, bytes);
	size_t have = gunzip->to - gunzip->from;
	if (have == 0)
		return gunzip->is_at_end || gunzip->error != 0
			? gunzip->error
			: gunzip->read(gunzip->context, to, bytes);
	size_t step = have < bytes ? have : bytes;
	memcpy(to, gunzip->packed + gunzip->from, step);
	gunzip->from += step;
	return (int64_t)step;
}
