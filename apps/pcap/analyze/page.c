// SPDX-License-Identifier: Apache-2.0
// The ten lines, and a ladder diagram of one repair: sender on the left, receiver on the right, the
// capture point between. Time goes down, a row for each packet, not to scale.

#include "analyze.h"

#include <inttypes.h>
#include <stdlib.h>

#include <weft/files/files.h>

#include "analyze/lists.h"

enum { LEFT = 130, TAP = 400, RIGHT = 670, ROW = 26, TOP = 60, WIDTH = 800 };

static void print_escaped(FILE *to, const char *text)
{
	for (; *text != '\0'; text++)
		if (*text == '<')
			fputs("&lt;", to);
		else if (*text == '>')
			fputs("&gt;", to);
		else if (*text == '&')
			fputs("&amp;", to);
		else if (*text == '\n' || (unsigned char)*text >= ' ')
			fputc(*text, to);
}

static void put_cross(FILE *to, int x, int y)
{
	fprintf(to, "<path class=\"lost\" d=\"M%d %dl10 10m0 -10l-10 10\"/>\n", x - 5, y - 5);
}

static void put_rung(FILE *to, const struct rung *rung, int y, int64_t begin_ns)
{
	char after[WORDS_BYTES];
	const char *class = rung->is_nak ? "nak" : rung->is_repeat ? "again" : "first";
	int from = rung->is_back ? RIGHT : LEFT, until = rung->is_back ? LEFT : RIGHT;
	if (rung->left_out > 0)
		fprintf(to,
			"<text class=\"gap\" x=\"%d\" y=\"%d\">%" PRIu64 " more packets</text>\n",
			TAP, y - ROW + 4, rung->left_out);
	if (rung->is_lost_before) {
		fprintf(to, "<path class=\"lost\" d=\"M%d %dH%d\"/>\n", LEFT, y, TAP - 40);
		put_cross(to, TAP - 40, y);
		fprintf(to,
			"<text class=\"lost\" x=\"%d\" y=\"%d\">PSN %" PRIu32
			" did not come here</text>\n",
			LEFT + 110, y - 4, rung->psn);
		return;
	}
	if (rung->is_lost_behind)
		until = RIGHT - 60;
	fprintf(to, "<path class=\"%s\" marker-end=\"url(#tip)\" d=\"M%d %dH%d\"/>\n", class, from,
		y, until);
	if (rung->is_lost_behind)
		put_cross(to, until + 8, y);
	fprintf(to, "<text x=\"%d\" y=\"%d\">%s PSN %" PRIu32 "</text>\n", TAP, y - 4, rung->what,
		rung->psn);
	fprintf(to, "<text class=\"time\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT - 8, y + 4,
		time_words(after, rung->at_ns - begin_ns));
	fprintf(to, "<text class=\"number\" x=\"%d\" y=\"%d\">packet %" PRIu64 "</text>\n",
		RIGHT + 8, y + 4, rung->number);
}

static int height_of(const struct ladder *ladder)
{
	int rows = (int)ladder->count + 1;
	for (uint32_t i = 0; i < ladder->count; i++)
		rows += ladder->rungs[i].left_out > 0;
	return TOP + rows * ROW;
}

static void put_ladder(FILE *to, const struct ladder *ladder)
{
	char source[WORDS_BYTES], target[WORDS_BYTES];
	int height = height_of(ladder), y = TOP + ROW;
	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n",
		WIDTH, height);
	fputs("<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" "
	      "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
	      to);
	fprintf(to, "<path class=\"end\" d=\"M%d %dV%dM%d %dV%d\"/>\n", LEFT, TOP - 20, height,
		RIGHT, TOP - 20, height);
	fprintf(to, "<path class=\"tap\" d=\"M%d %dV%d\"/>\n", TAP, TOP - 20, height);
	fprintf(to, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT, TOP - 28,
		address_words(source, ladder->stream->source));
	fprintf(to, "<text x=\"%d\" y=\"%d\">capture point</text>\n", TAP, TOP - 28);
	fprintf(to, "<text x=\"%d\" y=\"%d\">%s</text>\n", RIGHT, TOP - 28,
		address_words(target, ladder->stream->target));
	for (uint32_t i = 0; i < ladder->count; i++, y += ROW) {
		y += ladder->rungs[i].left_out > 0 ? ROW : 0;
		put_rung(to, &ladder->rungs[i], y, ladder->rungs[0].at_ns);
	}
	fputs("</svg>\n", to);
}

static void put_repair(FILE *to, const struct ladder *ladder)
{
	const struct flow_repair *repair = ladder->repair;
	fputs("<h2>One repair</h2>\n", to);
	if (ladder->count == 0) {
		fputs("<p>No repair was seen.</p>\n", to);
		return;
	}
	fprintf(to, "<p>PSN %" PRIu32 ": %s", repair->psn,
		flow_cause_name((enum flow_cause)repair->cause));
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
}

// Traffic by time, classes that change, rules that are broken: as --table has them.
static void put_lists(FILE *to, const struct call *call)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *lines = open_memstream(&text, &bytes);
	check(lines != NULL);
	bursts_print(lines, call);
	changes_print(lines, call);
	rules_print(lines, call);
	check(fclose(lines) == 0);
	fputs("<h2>Traffic by time</h2>\n<pre>", to);
	print_escaped(to, text);
	fputs("</pre>\n", to);
	free(text);
}

static void put_page(FILE *to, const struct call *call, const struct ladder *ladder)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *lines = open_memstream(&text, &bytes);
	check(lines != NULL);
	summary_print(lines, call);
	check(fclose(lines) == 0);
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>What "
	      "happened</title>\n<style>\nbody { font: 15px sans-serif; max-width: 60em; margin: "
	      "2em "
	      "auto; }\npre { white-space: pre-wrap; }\nsvg text { font-size: 11px; text-anchor: "
	      "middle; }\nsvg text.time { text-anchor: end; }\nsvg text.number { text-anchor: "
	      "start; }\nsvg path { fill: none; stroke: #555; }\nmarker path { fill: #555; }\n"
	      "svg path.nak { stroke: #b00; stroke-width: 2; }\nsvg path.again { stroke: #06c; "
	      "stroke-width: 2; }\nsvg path.lost { stroke: #b00; stroke-dasharray: 4; }\nsvg "
	      "path.tap { stroke-dasharray: 2 4; }\n</style></head>\n<body>\n<h1>What "
	      "happened</h1>\n<p>",
	      to);
	for (uint32_t i = 0; i < call->count; i++) {
		fputs(i > 0 ? ", " : "", to);
		print_escaped(to, call->paths[i]);
	}
	fputs("</p>\n<pre>", to);
	print_escaped(to, text);
	fputs("</pre>\n", to);
	put_repair(to, ladder);
	put_lists(to, call);
	fputs("</body>\n</html>\n", to);
	free(text);
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
