// SPDX-License-Identifier: Apache-2.0
// The report while it grows: lines on the terminal, and files that are replaced at once, so that
// there is a whole one at any time.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/files/files.h>
#include <weft/result/report_escape.h>

#include "acceptance.h"
#include "page.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

// ---------------------------------------------------------------- terminal

static void say_figure(FILE *to, const char *name, int digits, double value, const char *unit)
{
	if (!isnan(value))
		fprintf(to, "  %s %.*g%s", name, digits, value, unit);
}

// "8.431 us", "5.563 ms"
static void say_time(FILE *to, const char *name, double seconds)
{
	static const struct {
		double size;
		const char *unit;
	} units[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}};
	uint32_t i = 0;
	while (i < 3 && seconds < units[i].size)
		i++;
	if (!isnan(seconds))
		fprintf(to, "  %s %.4g%s", name, seconds / units[i].size, units[i].unit);
}

void page_line(FILE *to, const struct acceptance *acceptance, const struct case_run *run)
{
	const struct case_figures *figures = &run->figures;
	fprintf(to, "%2u/%u  %-11s %-16s  %-9s", (uint32_t)(run - acceptance->cases) + 1,
		acceptance->case_count, section_word(run->of->section), run->of->name,
		case_word(run->state));
	if (run->state == CASE_PASS || run->state == CASE_FAIL) {
		say_figure(to, "goodput", 3, figures->goodput_bps / figures->nic_rate_bps * 100,
			   " %");
		say_figure(to, "busbw", 4, figures->busbw_bps / 8e9, " GB/s");
		say_time(to, "p99", figures->fct_p99_s);
		say_figure(to, "retransmitted", 3, figures->resent * 100, " %");
	}
	if (run->is_kept)
		fputs("  (kept)", to);
	if (run->state != CASE_PASS) {
		fputs("  ", to);
		page_missed(to, acceptance, run);
	}
	fputc('\n', to);
	fflush(to);
}

// Who stands out, of the first case in which somebody does; NULL: nobody.
static const char *page_culprit(const struct acceptance *acceptance)
{
	for (uint32_t i = 0; i < acceptance->case_count; i++) {
		const struct case_run *run = &acceptance->cases[i];
		bool has_figures = run->state == CASE_PASS || run->state == CASE_FAIL;
		if (has_figures && run->figures.culprit[0] != '\0')
			return run->figures.culprit;
	}
	return NULL;
}

void page_end(FILE *to, const struct acceptance *acceptance)
{
	uint32_t counts[CASE_STATE_COUNT];
	page_count(counts, acceptance);
	page_verdict(to, acceptance);
	fprintf(to, ": %u passed, %u failed, %u not valid, %u not asked, %u left out, %u open\n",
		counts[CASE_PASS], counts[CASE_FAIL], counts[CASE_NOT_VALID],
		counts[CASE_NOT_ASKED], counts[CASE_LEFT_OUT], counts[CASE_OPEN]);
	if (page_culprit(acceptance) != NULL)
		fprintf(to, "look at: %s\n", page_culprit(acceptance));
	fprintf(to, "report: %s/report.html, report.md, book.json\n", acceptance->out);
}

// ---------------------------------------------------------------- files

static int replace(struct acceptance *acceptance, const char *path,
		   int (*write)(FILE *to, const struct acceptance *))
{
	struct atomic_file atomic_file;
	int rc = path == acceptance->junit
		? atomic_file_begin(&atomic_file, path, &acceptance->refusal)
		: atomic_file_renew(&atomic_file, path, &acceptance->refusal);
	if (rc < 0)
		return rc;
	return atomic_file_end(&atomic_file, write(atomic_file.to, acceptance) == 0 ? 0 : -EIO,
			       &acceptance->refusal);
}

static int junit(FILE *to, const struct acceptance *acceptance)
{
	page_junit(to, acceptance);
	return ferror(to) != 0;
}

int page_write(struct acceptance *acceptance)
{
	char path[ACCEPTANCE_PATH_BYTES];
	snprintf(path, sizeof(path), "%s/report.md", acceptance->out);
	int rc = replace(acceptance, path, page_text);
	snprintf(path, sizeof(path), "%s/book.json", acceptance->out);
	if (rc == 0)
		rc = replace(acceptance, path, page_json);
	snprintf(path, sizeof(path), "%s/report.html", acceptance->out);
	if (rc == 0)
		rc = replace(acceptance, path, page_html);
	if (rc == 0 && acceptance->junit != NULL && acceptance->is_done)
		rc = replace(acceptance, acceptance->junit, junit);
	return rc < 0 ? rc
		      : manifest_write(acceptance->out, &acceptance->inputs, WEFT_VERSION_TEXT,
				       &acceptance->refusal);
}
