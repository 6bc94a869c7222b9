// SPDX-License-Identifier: Apache-2.0
// The progress bar: cases that are through, and about how long the others take. On a terminal only.
// How many there are is found by asking for each of them without running any.

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

bool choice_takes(const struct choice *choice, const char *name)
{
	bool is_taken = choice->only == NULL ||
		strncmp(name, choice->only, strlen(choice->only)) == 0;
	if (bar.is_counting)
		bar.total += is_taken;
	else if (is_taken && bar.is_on && bar.total > 0)
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
