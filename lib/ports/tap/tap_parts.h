// SPDX-License-Identifier: Apache-2.0
// What taps are made of: the file, the line of a log, how much is kept of a frame, the order.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/packet.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/ports/codec.h>
#include <weft/scenario/scenario.h>
#include <weft/wire/wire.h>
#include <weft/world/world.h>

// A file that a run writes as it goes. What the system refuses on the way is remembered and told
// when the file is closed: the run goes on. Nothing is buffered here.

struct tap_file {
	const char *path; // as the user named it; NULL = there is no such file
	uint64_t bytes;	  // that were written
	int descriptor;
	int error; // errno of the first write that failed; nothing is written after it
	bool is_regular;
	bool is_new; // made by tap_file_open()
};

// Opens `path`, which must outlive the file; one that is there keeps its content until
// tap_file_empty(). Errors of files_check_output(), else -errno with file and reason.
int tap_file_open(struct tap_file *ret, const char *path, struct refusal *refusal);

// Takes away what an earlier run left in it.
void tap_file_empty(struct tap_file *file);

// Closes the file and leaves the folder as it was before tap_file_open().
void tap_file_abandon(struct tap_file *file);

// Whether it may grow by `bytes` without being larger than `bytes_max`.
bool tap_file_has_room(const struct tap_file *file, size_t bytes, int64_t bytes_max);

void tap_file_write(struct tap_file *file, const void *bytes, size_t count);

// -EIO with file and reason when anything could not be written.
int tap_file_close(struct tap_file *file, struct refusal *refusal);

// A packet as a line of text: what its descriptor says, not its bytes. The columns are described in
// docs/result.md.

#define TAP_FAR_WORD " end" // behind the name of a cable
#define TAP_PLACE_NAME_BYTES (WORLD_CABLE_NAME_BYTES + sizeof(TAP_FAR_WORD))
#define TAP_LOG_LINE_BYTES (384 + TAP_PLACE_NAME_BYTES) // holds every line

// The first line: the columns' names.
extern const char tap_log_head[];

// Writes the line of `packet`, whose frame is as `wire` has it, and which entered the cable `tap`
// at `at`, into TAP_LOG_LINE_BYTES; the columns of no packet (NULL) are empty. Returns its length;
// there is no NUL behind it.
size_t tap_log_line(char *ret, const struct wire_config *wire, ps_t at, const char *tap,
		    const struct packet *packet);

// Private to the room: how much of a packet's frame a capture keeps.

// Bytes of a packet's frame.
uint32_t tap_frame_bytes(const struct codec *codec, const struct packet *packet);

// Up to its payload, or to the ICRC where there is none. It follows from the packet, so that a
// frame is cut alike whether it came with the packet or is built.
uint32_t tap_header_bytes(const struct codec *codec, const struct packet *packet);
uint32_t tap_header_bytes_max(const struct codec *codec);

// The most that a capture keeps of any frame, and what it keeps of one of `frame_bytes`. `packet`
// is NULL where that cannot be read.
uint32_t tap_snap_bytes(const struct codec *codec, const struct capture_config *config);
uint32_t tap_captured_bytes(const struct codec *codec, const struct capture_config *config,
			    const struct packet *packet, uint32_t frame_bytes);

// The order of what taps took in one window: by time, then cable, then the order in which it was
// taken.

struct tap_key {
	ps_t at;
	uint32_t cable;
	uint32_t place; // where the record is; no part of the order
};

// Sorts `count` keys; keys of equal time and cable stay in the order they have. Uses `scratch` with
// room for as many, and returns the one of the two that holds the result.
struct tap_key *tap_sort(struct tap_key *keys, struct tap_key *scratch, uint32_t count);
