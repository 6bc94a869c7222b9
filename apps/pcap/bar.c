// SPDX-License-Identifier: Apache-2.0
// How far captures are read. See bar.h.

#include "bar.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include <weft/run/outcome.h>

#define CELLS 30u
#define STEP_NS 100000000

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void bar_begin(struct bar *bar, uint32_t files)
{
	*bar = (struct bar){.is_on = isatty(STDERR_FILENO), .files = files};
	bar->next_ns = now_ns() + STEP_NS; // what is done sooner has none
}

void bar_file(struct bar *bar)
{
	bar->file++;
}

// A pipe does not say how much will come.
static void draw(const struct bar *bar, const struct source *source)
{
	char cells[CELLS + 1], read[WORDS_BYTES], frames[WORDS_BYTES];
	bytes_words(read, source->bytes);
	count_words(frames, bar->frames);
	if (source->bytes_of == 0) {
		outcome_bar("\r\033[K%s read, %s frames  ", read, frames);
		return;
	}
	double share = (double)source->bytes / (double)source->bytes_of;
	share = share > 1 ? 1 : share;
	for (uint32_t i = 0; i < CELLS; i++)
		cells[i] = i < (uint32_t)(share * CELLS) ? '#' : '.';
	cells[CELLS] = '\0';
	outcome_bar("\r\033[K[%s] %3.0f %%  %s frames  ", cells, share * 100, frames);
	if (bar->files > 1)
		outcome_bar("file %" PRIu32 " of %" PRIu32 "  ", bar->file, bar->files);
}

void bar_show(struct bar *bar, const struct source *source)
{
	int64_t now = now_ns();
	if (now < bar->next_ns)
		return;
	bar->next_ns = now + STEP_NS;
	bar->is_drawn = true;
	draw(bar, source);
}

void bar_end(struct bar *bar)
{
	if (bar->is_drawn)
		outcome_bar("\r\033[K");
	bar->is_on = false;
}
