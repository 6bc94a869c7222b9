// SPDX-License-Identifier: Apache-2.0
// How far captures are read: a bar on a terminal (stderr), nothing elsewhere.
#pragma once

#include "pcap.h"

struct bar {
	bool is_on, is_drawn;
	int64_t next_ns; // when it is drawn again
	uint64_t frames;
	uint32_t file, files;
};

// Of `files` captures.
void bar_begin(struct bar *bar, uint32_t files);

// The next file begins.
void bar_file(struct bar *bar);

// Draws it, ten times a second at most; bar_frame(): one more frame was read.
void bar_show(struct bar *bar, const struct source *source);

static inline void bar_frame(struct bar *bar, const struct source *source)
{
	if ((++bar->frames & 4095) == 0 && bar->is_on)
		bar_show(bar, source);
}

// Takes it away.
void bar_end(struct bar *bar);
