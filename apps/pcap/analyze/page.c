// SPDX-License-Identifier: Apache-2.0
// An analysis as a page: its lines, a ladder diagram of one repair, and what passed by time.

#include "analyze.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>
#include <weft/files/files.h>
#include <weft/page/html_ladder.h>
#include <weft/page/html_page.h>
#include <weft/page/page_assets.h>
#include <weft/result/report_escape.h>

#include "analyze/lists.h"
#include "analyze/story.h"

// What `print` writes, as a text; the caller frees it.
static char *text_of(void (*print)(FILE *to, const struct call *call), const struct call *call)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *lines = open_memstream(&text, &bytes);
	check_memory(lines != NULL);
	print(lines, call);
	check(fclose(lines) == 0);
	return text;
}

// ---------------------------------------------------------------- one repair

static void make_rung(struct html_rung *ret, const struct rung *rung, int64_t begin_ns)
{
	char after[WORDS_BYTES];
	*ret = (struct html_rung){
		.number = rung->number,
		.left_out = rung->left_out,
		.is_back = rung->is_back,
		.look = rung->is_nak	  ? HTML_RUNG_ASKS
			: rung->is_repeat ? HTML_RUNG_AGAIN
					  : HTML_RUNG_PLAIN,
		.lost = rung->is_lost_before   ? HTML_RUNG_LOST_BEFORE
			: rung->is_lost_behind ? HTML_RUNG_LOST_BEHIND
					       : HTML_RUNG_ARRIVES,
	};
	if (rung->is_lost_before) {
		snprintf(ret->what, sizeof(ret->what), "PSN %" PRIu32 " did not come here",
			 rung->psn);
		return;
	}
	snprintf(ret->what, sizeof(ret->what), "%s PSN %" PRIu32, rung->what, rung->psn);
	for (char *at = ret->what; *at != '\0'; at++)
		*at = *at == '_' ? ' ' : *at;
	snprintf(ret->when, sizeof(ret->when), "%s", time_words(after, rung->at_ns - begin_ns));
}

static void put_ladder(FILE *to, const struct ladder *ladder)
{
	struct html_rung rungs[RUNGS_MAX];
	for (uint32_t i = 0; i < ladder->count; i++)
		make_rung(&rungs[i], &ladder->rungs[i], ladder->rungs[0].at_ns);
	html_ladder(to, rungs, ladder->count, true);
	html_ladder(to, rungs, ladder->count, false);
	fputs("<p class=\"legend key\"><span><i class=\"asks\"></i> asks for a repeat</span>"
	      "<span><i class=\"again\"></i> retransmitted</span><span>a cross: lost on that side "
	      "of "
	      "the capture point</span></p>\n",
	      to);
}

static void put_repair(FILE *to, const struct ladder *ladder)
{
	const struct flow_repair *repair = ladder->repair;
	char source[WORDS_BYTES], target[WORDS_BYTES];
	fputs("<section id=\"repair\"><h2>One repair</h2>\n", to);
	if (ladder->count == 0) {
		fputs("<p>No repair was seen.</p></section>\n", to);
		return;
	}
	fprintf(to, "<p>PSN %" PRIu32 " from %s to %s: %s", repair->psn,
		address_words(source, ladder->stream->source),
		address_words(target, ladder->stream->target),
		cause_words((enum flow_cause)repair->cause));
	bool is_mrc = ladder->stream->found == WIRE_FOUND_MRC;
	if (is_mrc && repair->number != 0)
		fprintf(to, "; first in packet %" PRIu64, repair->number);
	else if (!repair->is_timer && repair->number != 0)
		fprintf(to, "; asked for by packet %" PRIu64, repair->number);
	fprintf(to,
		"; retransmitted from packet %" PRIu64 " on. Rows are packets of this QP, as they "
		"passed the capture point; times are from the first one.</p>\n",
		repair->repeat);
	put_ladder(to, ladder);
	fputs("</section>\n", to);
}

// ---------------------------------------------------------------- the page

// Marks and pauses alone are no fault: nothing was lost.
static const char *const looks[][2] = {{"good", "NO FAULT FOUND"},
				       {"bad", "FAULT FOUND"},
				       {"warn", "NOTHING LOST"},
				       {"warn", "NOTHING SAID"}};

static const char *const *look_of(const struct call *call)
{
	static struct story story; // large: kept off the stack
	const uint64_t *found = call->report->totals.found;
	bool has_rdma = found[WIRE_FOUND_ROCE] + found[WIRE_FOUND_ROCE1] + found[WIRE_FOUND_MRC] +
			found[WIRE_FOUND_INFINIBAND] >
		0;
	if (!has_rdma || trust_of(call) != TRUST_ALL)
		return looks[3];
	story_make(&story, call);
	if (story.cause_count == 0)
		return looks[0];
	return looks[story.order[0] == FLOW_CONGESTION || story.order[0] == FLOW_PAUSE ? 2 : 1];
}

// The first of the lines is the headline.
static void put_lines(FILE *to, const struct call *call)
{
	char *text = text_of(summary_print, call), *rest = NULL;
	const char *const *look = look_of(call);
	html_verdict_begin(to, look[0], look[1], strtok_r(text, "\n", &rest));
	for (const char *line; (line = strtok_r(NULL, "\n", &rest)) != NULL;) {
		fputs("<p>", to);
		escape_xml(to, line);
		fputs("</p>\n", to);
	}
	html_verdict_end(to);
	free(text);
}

// Traffic by time, classes that change, rules that are broken: as --table has them.
static void print_lists(FILE *to, const struct call *call)
{
	bursts_print(to, call);
	changes_print(to, call);
	rules_print(to, call);
}

static void put_lists(FILE *to, const struct call *call)
{
	char *text = text_of(print_lists, call), *rest = NULL;
	fputs("<section id=\"time\"><h2>Traffic by time</h2>\n<pre class=\"columns\" "
	      "tabindex=\"0\">",
	      to);
	for (const char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		escape_xml(to, line);
		fputc('\n', to);
	}
	fputs("</pre></section>\n", to);
	free(text);
}

static void put_page(FILE *to, const struct call *call, const struct ladder *ladder)
{
	html_page_begin(to, "What happened", page_style);
	fputs("<body>\n<header><h1>What happened</h1><p class=\"about\">", to);
	for (uint32_t i = 0; i < call->count; i++) {
		fputs(i > 0 ? ", " : "", to);
		escape_xml(to, call->paths[i]);
	}
	fputs("</p></header>\n<main id=\"main\">\n", to);
	put_lines(to, call);
	put_repair(to, ladder);
	put_lists(to, call);
	fputs("</main>\n</body>\n</html>\n", to);
}

int page_write(struct call *call)
{
	static struct ladder ladder;
	struct atomic_file atomic_file;
	int rc = ladder_make(&ladder, call);
	if (rc == 0)
		rc = atomic_file_begin(&atomic_file, call->page, &call->refusal);
	if (rc < 0)
		return rc;
	put_page(atomic_file.to, call, &ladder);
	return atomic_file_end(&atomic_file, 0, &call->refusal);
}
