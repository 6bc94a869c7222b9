// SPDX-License-Identifier: Apache-2.0
// Ring files of a capture. Each is whole by itself: a section, the interface, frames, statistics.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>

#include "live/rotation.h"
#include "weft_version.h"

#define BLOCKS_BYTES ((size_t)1 << 20)
#define SPARE_BYTES 1024 // a statistics block fits

static void name_file(const struct rotation *rotation, uint64_t number,
		      char ret[ATOMIC_FILE_PATH_BYTES])
{
	if (rotation->files == 1) {
		snprintf(ret, ATOMIC_FILE_PATH_BYTES, "%s", rotation->path);
		return;
	}
	const char *slash = strrchr(rotation->path, '/'), *dot = strrchr(rotation->path, '.');
	size_t stem = dot != NULL && (slash == NULL || dot > slash + 1)
		? (size_t)(dot - rotation->path)
		: strlen(rotation->path);
	snprintf(ret, ATOMIC_FILE_PATH_BYTES, "%.*s.%u%s", (int)stem, rotation->path,
		 (uint32_t)(number % rotation->files), rotation->path + stem);
}

int rotation_check(struct rotation *rotation, struct refusal *refusal)
{
	for (uint32_t i = 0; i < rotation->files; i++) {
		char name[ATOMIC_FILE_PATH_BYTES];
		name_file(rotation, i, name);
		int rc = files_check_output(name, refusal);
		if (rc < 0)
			return rc;
	}
	rotation->blocks.at = malloc(BLOCKS_BYTES);
	rotation->blocks.capacity = BLOCKS_BYTES;
	return rotation->blocks.at == NULL ? refuse(refusal, -ENODEV, "no memory for a buffer") : 0;
}

static void drain(struct rotation *rotation)
{
	rotation->written += fwrite(rotation->blocks.at, 1, rotation->blocks.used,
				    rotation->atomic_file.to);
	rotation->blocks.used = 0;
}

static int begin(struct rotation *rotation, struct refusal *refusal)
{
	name_file(rotation, rotation->begun++, rotation->name);
	int rc = atomic_file_renew(&rotation->atomic_file, rotation->name, refusal);
	if (rc < 0)
		return rc;
	rotation->is_open = true;
	rotation->written = 0;
	check(pcapng_begin(&rotation->blocks, "weft " WEFT_VERSION_TEXT, NULL) == 0);
	check(pcapng_interface(&rotation->blocks, &rotation->interface) == 0);
	return 0;
}

int rotation_end(struct rotation *rotation, int64_t at_ns, uint64_t received, uint64_t dropped,
		 struct refusal *refusal)
{
	if (!rotation->is_open)
		return 0;
	drain(rotation);
	rotation->blocks.base_ns = (uint64_t)at_ns;
	const struct pcapng_counts counts = {received - rotation->received,
					     dropped - rotation->dropped, 0};
	check(pcapng_statistics(&rotation->blocks, 0, 0, &counts) == 0);
	drain(rotation);
	rotation->is_open = false;
	rotation->received = received;
	rotation->dropped = dropped;
	return atomic_file_end(&rotation->atomic_file, 0, refusal);
}

int rotation_put(struct rotation *rotation, const struct pcapng_frame *frame, int64_t at_ns,
		 uint64_t received, uint64_t dropped, struct refusal *refusal)
{
	size_t bytes = pcapng_frame_bytes(frame);
	int rc = 0;
	if (rotation->is_open && rotation->file_bytes > 0 &&
	    rotation->written + rotation->blocks.used + bytes + SPARE_BYTES > rotation->file_bytes)
		rc = rotation_end(rotation, at_ns, received, dropped, refusal);
	if (rc == 0 && !rotation->is_open)
		rc = begin(rotation, refusal);
	if (rc < 0)
		return rc;
	if (bytes > BLOCKS_BYTES - rotation->blocks.used)
		drain(rotation);
	rotation->blocks.base_ns = (uint64_t)at_ns;
	check(pcapng_frame(&rotation->blocks, frame) == 0);
	return 0;
}

uint64_t rotation_kept(const struct rotation *rotation)
{
	return rotation->begun < rotation->files ? rotation->begun : rotation->files;
}

const char *rotation_name(const struct rotation *rotation, uint64_t k,
			  char ret[ATOMIC_FILE_PATH_BYTES])
{
	name_file(rotation, rotation->begun - rotation_kept(rotation) + k, ret);
	return ret;
}
