// SPDX-License-Identifier: Apache-2.0
// The progress bar: cases that are through, and those that run. On a terminal only.

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "page.h"
#include <weft/files/clock.h>

#define CELLS 30

void page_bar(FILE *to, const struct acceptance *acceptance)
{
	uint32_t through = 0;
	double run_s = 0, left_s = 0; // as estimated
	if (isatty(STDERR_FILENO) == 0)
		return;
	for (uint32_t i = 0; i < acceptance->case_count; i++) {
		const struct case_run *run = &acceptance->cases[i];
		through += run->state != CASE_OPEN;
		run_s += run->state != CASE_OPEN && run->start_s > 0 ? run->estimate_s : 0;
		left_s += run->state == CASE_OPEN ? run->estimate_s : 0;
	}
	fputs("\r[", to);
	for (uint32_t i = 0; i < CELLS; i++)
		fputc(i < through * CELLS / acceptance->case_count ? '#' : '.', to);
	fprintf(to, "] %u of %u", through, acceptance->case_count);
	// What ran says how fast this machine is; kept cases cost nothing.
	double pace = run_s > 0 ? (clock_s(CLOCK_MONOTONIC) - acceptance->start_s) / run_s
				: 1.0 / acceptance->at_once;
	fprintf(to, "  about %.0f s left", left_s * pace);
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (acceptance->cases[i].child > 0)
			fprintf(to, "  %s (about %.0f s)", acceptance->cases[i].of->name,
				acceptance->cases[i].estimate_s * pace);
	fputs("\033[K", to);
	fflush(to);
}

void page_bar_end(FILE *to)
{
	if (isatty(STDERR_FILENO) != 0)
		fputs("\r\033[K", to);
	fflush(to);
}
