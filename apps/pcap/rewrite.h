// SPDX-License-Identifier: Apache-2.0
// Frames of captures into another one, as pcapng.
#pragma once

#include <stdio.h>

#include <weft/capture/capture.h>
#include <weft/capture/capture_reader.h>

struct rewrite {
	struct pcapng blocks;
	FILE *to; // whoever closes it finds errors of writing
	uint32_t interfaces;
	uint64_t untimed;
};

// False: no memory.
bool rewrite_init(struct rewrite *rewrite);
void rewrite_free(struct rewrite *rewrite);

// Begins the file.
void rewrite_begin(struct rewrite *rewrite, FILE *to, const char *program, const char *comment);

void rewrite_interface(struct rewrite *rewrite, const struct pcapng_interface *interface);

// One frame that was read at `from`; `to` says what of it is written.
void rewrite_frame(struct rewrite *rewrite, const struct capture_frame *from,
		   const struct pcapng_frame *to);

// What a file says of its interfaces, the first of which is interface `first` here.
void rewrite_statistics(struct rewrite *rewrite, const struct capture_reader *reader,
			uint32_t first, int64_t at_ns);

// All blocks into the file.
void rewrite_drain(struct rewrite *rewrite);
