// SPDX-License-Identifier: Apache-2.0
// The files that a live capture writes: one, or some by turns, of which the oldest is written anew.
#pragma once

#include <weft/capture/capture.h>
#include <weft/core/refusal.h>
#include <weft/files/files.h>

#define ROTATION_FILES_MAX 1000

struct rotation {
	// The caller's.
	const char *path;    // "name.pcapng"; with several files "name.0.pcapng" and so on
	uint32_t files;	     // 1: it is not a ring
	uint64_t file_bytes; // of each; 0: no end
	struct pcapng_interface interface;
	// Its own.
	struct pcapng blocks;
	struct atomic_file atomic_file;
	char name[ATOMIC_FILE_PATH_BYTES]; // of the file that is written
	uint64_t begun;			   // files so far
	uint64_t written;		   // bytes of this one
	uint64_t received, dropped;	   // before this one
	bool is_open;
};

// Whether all files may be written. -errno with a reason.
int rotation_check(struct rotation *rotation, struct refusal *refusal);

// Adds a frame; begins the next file where this one is full. `received` and `dropped`: of the
// device, so far. -errno with a reason.
int rotation_put(struct rotation *rotation, const struct pcapng_frame *frame, int64_t at_ns,
		 uint64_t received, uint64_t dropped, struct refusal *refusal);

// Ends the file that is open. -errno with a reason.
int rotation_end(struct rotation *rotation, int64_t at_ns, uint64_t received, uint64_t dropped,
		 struct refusal *refusal);

// The name of the k-th file that is there, in the order of time.
const char *rotation_name(const struct rotation *rotation, uint64_t k,
			  char ret[ATOMIC_FILE_PATH_BYTES]);
uint64_t rotation_kept(const struct rotation *rotation);
