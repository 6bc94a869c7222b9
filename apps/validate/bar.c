// SPDX-License-Identifier: Apache-2.0
// The progress bar: cases that are through, and about how long the others take. On a terminal only.
// How many there are is found by asking for each of them without running any.

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "validate.h"
#include <weft/files/clock.h>
#include <weft/run/outcome.h>

#define CELLS 30

static struct {
	bool is_on, is_counting;
	uint32_t total, begun;
	double start_s;
	struct near_word meant; // the case of --only
} bar;

static void show(const char *name)
{
	char cells[CELLS + 1];
	uint32_t done = bar.begun < bar.total ? bar.begun : bar.total - 1;
	memset(cells, '.', CELLS);
	memset(cells, '#', (size_t)done * CELLS / bar.total);
	cells[CELLS] = '\0';
	outcome_bar("\r[%s] %u of %u  %.40s", cells, done, bar.total, name);
	if (done > 0)
		outcome_bar("  about %.0f s left",
			    (clock_s(CLOCK_MONOTONIC) - bar.start_s) * (bar.total - done) / done);
	outcome_bar("\033[K");
}

// Also by how it begins, up to each of its hyphens.
static void see_name(const char *asked, const char *name)
{
	char begin[NEAR_WORD_BYTES];
	if (bar.meant.asked == NULL)
		bar.meant = near_word_of(asked);
	for (const char *at = strchr(name, '-'); at != NULL; at = strchr(at + 1, '-')) {
		snprintf(begin, sizeof(begin), "%.*s", (int)(at - name), name);
		near_word_see(&bar.meant, begin);
	}
	near_word_see(&bar.meant, name);
}

const struct near_word *bar_meant(void)
{
	return &bar.meant;
}

bool choice_takes(const struct choice *choice, const char *name)
{
	bool is_taken = choice->only == NULL ||
		strncmp(name, choice->only, strlen(choice->only)) == 0;
	if (bar.is_counting)
		bar.total += is_taken;
	if (bar.is_counting && !is_taken)
		see_name(choice->only, name);
	if (!bar.is_counting && is_taken && bar.is_on && bar.total > 0)
		show(name);
	bar.begun += is_taken && !bar.is_counting;
	return is_taken && !bar.is_counting;
}

void bar_count(bool is_counting)
{
	bar.is_on = isatty(STDERR_FILENO);
	bar.is_counting = is_counting;
	bar.start_s = clock_s(CLOCK_MONOTONIC);
}

void bar_clear(void)
{
	if (bar.is_on)
		outcome_bar("\r\033[K");
}
