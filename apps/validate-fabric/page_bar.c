// SPDX-License-Identifier: Apache-2.0
// The progress bar: cases that are through, and those that run. On a terminal only.

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "page.h"

#define CELLS 30

static double since_s(double start_s)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - start_s;
}

void page_bar(FILE *to, const struct book *book)
{
	uint32_t through = 0, run = 0;
	if (isatty(STDERR_FILENO) == 0)
		return;
	for (uint32_t i = 0; i < book->case_count; i++) {
		through += book->cases[i].state != CASE_OPEN;
		run += book->cases[i].state != CASE_OPEN && book->cases[i].start_s > 0;
	}
	fputs("\r[", to);
	for (uint32_t i = 0; i < CELLS; i++)
		fputc(i < through * CELLS / book->case_count ? '#' : '.', to);
	fprintf(to, "] %u of %u", through, book->case_count);
	double spent_s = since_s(book->start_s);
	if (run > 0) // kept ones cost nothing
		fprintf(to, "  about %.0f s left", spent_s / run * (book->case_count - through));
	for (uint32_t i = 0; i < book->case_count; i++)
		if (book->cases[i].child > 0)
			fprintf(to, "  %s", book->cases[i].of->name);
	fputs("\033[K", to);
	fflush(to);
}

void page_bar_end(FILE *to)
{
	if (isatty(STDERR_FILENO) != 0)
		fputs("\r\033[K", to);
	fflush(to);
}
