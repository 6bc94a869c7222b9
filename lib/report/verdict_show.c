// SPDX-License-Identifier: Apache-2.0
// A verdict as a table, as JSON, and as JUnit XML for systems that run tests.

#include <errno.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include <weft/report_verdict.h>

#include "number.h"
#include "put.h"

static const char *const states[] = {"met", "MISSED", "UNAVAILABLE", "skipped"};
static const char *const state_words[] = {"met", "missed", "unavailable", "skipped"};
static const char *const ends[] = {"PASS", "FAIL", "NOT VALID"};
static const char *const end_words[] = {"pass", "fail", "not_valid"};
static const char *const dimensions[] = {"none", "s", "bit/s", "byte"};

static bool has_figure(const struct finding *finding)
{
	return finding->state == FINDING_MET || finding->state == FINDING_MISSED;
}

static const char *figure_text(struct text *ret, double value, enum dimension dimension,
			       const struct bound *bound)
{
	switch (dimension) {
	case DIMENSION_TIME:
		return number_time(ret, (ps_t)llround(value * 1e12));
	case DIMENSION_RATE:
		return number_rate(ret, value);
	case DIMENSION_BYTES:
		return number_bytes(ret, (uint64_t)llround(value));
	default:
		if (bound->is_percent && bound->of[0] == '\0')
			return number_share(ret, value);
		snprintf(ret->at, sizeof(ret->at), "%.6g", value);
		return ret->at;
	}
}

static const char *measured_text(struct text *ret, const struct finding *finding,
				 const struct bound *bound)
{
	if (!has_figure(finding))
		return "-";
	if (bound->is_word)
		return finding->word;
	return figure_text(ret, finding->measured, finding->dimension, bound);
}

static void show_line(FILE *to, const struct profile_check *check, const struct finding *finding)
{
	struct text measured, limit;
	fprintf(to, "%-11s  %-34s %14s  %s", states[finding->state], check->name,
		measured_text(&measured, finding, &check->bound), check->bound_text);
	if (has_figure(finding) && check->bound.of[0] != '\0')
		fprintf(to, " (%s)",
			figure_text(&limit, finding->limit, finding->dimension, &check->bound));
	if (has_figure(finding) && finding->where[0] != '\0')
		fprintf(to, "; %s", finding->where);
	if (!has_figure(finding))
		fprintf(to, "; %s", finding->reason);
	fputc('\n', to);
}

void verdict_missed(FILE *to, const struct profile_check *check, const struct finding *finding)
{
	struct text measured, limit;
	if (finding->state != FINDING_MISSED)
		return;
	fprintf(to, "%s %s%s, %s", check->name, check->bound.is_word ? "is " : "",
		measured_text(&measured, finding, &check->bound), check->bound_text);
	if (check->bound.of[0] != '\0')
		fprintf(to, " (%s)",
			figure_text(&limit, finding->limit, finding->dimension, &check->bound));
}

void verdict_show(FILE *to, const struct profile *profile, const struct verdict *verdict)
{
	fprintf(to, "%s held against %s%s%s\n\n", verdict->scenario, profile->name,
		profile->description[0] != '\0' ? ": " : "", profile->description);
	for (uint32_t i = 0; i < profile->check_count; i++)
		show_line(to, &profile->checks[i], &verdict->findings[i]);
	fprintf(to, "\n%s: %u met, %u missed, %u unavailable, %u skipped\n", ends[verdict->end],
		verdict->met, verdict->missed, verdict->unavailable, verdict->skipped);
	if (verdict->is_partial)
		fputs("The run did not come to its end: its figures are of a part of the "
		      "traffic.\n",
		      to);
}

// ---------------------------------------------------------------- JSON

static void put_check(json_t *row, const struct profile_check *check, const struct finding *finding)
{
	bool is_number = has_figure(finding) && !check->bound.is_word;
	put_text(row, "name", check->name);
	put_text(row, "state", state_words[finding->state]);
	put_text(row, "metric", check->metric);
	put_text(row, "scope", check->scope[0] != '\0' ? check->scope : NULL);
	put_text(row, "statistic", check->statistic[0] != '\0' ? check->statistic : "each");
	put_text(row, "bound", check->bound_text);
	put_text(row, "unit", is_number ? dimensions[finding->dimension] : NULL);
	if (is_number)
		put_real(row, "measured", finding->measured);
	else
		put_text(row, "measured", has_figure(finding) ? finding->word : NULL);
	if (!has_figure(finding))
		put_text(row, "measured_reason", finding->reason);
	put(row, "limit", is_number ? json_real(finding->limit) : json_null());
	put_text(row, "where", finding->where[0] != '\0' ? finding->where : NULL);
	put(row, "required", json_boolean(check->is_required));
	put_text(row, "source", check->source);
}

int verdict_json(FILE *to, const struct profile *profile, const struct verdict *verdict)
{
	json_t *root = json_object();
	if (root == NULL)
		return -EIO;
	put_count(root, "schema", 1);
	put_text(root, "weft", verdict->weft);
	put_text(root, "scenario", verdict->scenario);
	put_text(root, "digest", verdict->digest[0] != '\0' ? verdict->digest : NULL);
	put_text(root, "profile", profile->name);
	put_text(root, "verdict", end_words[verdict->end]);
	put(root, "partial", json_boolean(verdict->is_partial));
	put_count(root, "met", verdict->met);
	put_count(root, "missed", verdict->missed);
	put_count(root, "unavailable", verdict->unavailable);
	put_count(root, "skipped", verdict->skipped);
	json_t *rows = array_in(root, "checks");
	for (uint32_t i = 0; i < profile->check_count; i++)
		put_check(row_in(rows), &profile->checks[i], &verdict->findings[i]);
	int rc = json_dumpf(root, to, JSON_INDENT(2));
	json_decref(root);
	return rc == 0 && fputc('\n', to) != EOF ? 0 : -EIO;
}

// ---------------------------------------------------------------- JUnit

// A text inside of XML. What XML 1.0 cannot hold becomes a question mark.
static void put_xml(FILE *to, const char *text)
{
	for (; *text != '\0'; text++) {
		const char *name = *text == '<' ? "&lt;"
			: *text == '>'		? "&gt;"
			: *text == '&'		? "&amp;"
			: *text == '"'		? "&quot;"
						: NULL;
		if (name != NULL)
			fputs(name, to);
		else
			fputc((unsigned char)*text < 0x20 ? '?' : *text, to);
	}
}

static void put_attribute(FILE *to, const char *name, const char *text)
{
	fprintf(to, " %s=\"", name);
	put_xml(to, text);
	fputc('"', to);
}

static void put_outcome(FILE *to, const struct profile_check *check, const struct finding *finding)
{
	static const char *const tags[] = {"", "failure", "error", "skipped"};
	struct text measured, limit;
	char message[256];
	if (finding->state == FINDING_MET)
		return;
	snprintf(message, sizeof(message), "%s", finding->reason);
	if (has_figure(finding) && check->bound.is_word)
		snprintf(message, sizeof(message), "measured %s", finding->word);
	else if (has_figure(finding))
		snprintf(message, sizeof(message), "measured %s, held against %s%s%s",
			 measured_text(&measured, finding, &check->bound),
			 figure_text(&limit, finding->limit, finding->dimension, &check->bound),
			 finding->where[0] != '\0' ? " at " : "", finding->where);
	fprintf(to, "<%s", tags[finding->state]);
	put_attribute(to, "message", message);
	fputs("/>", to);
}

int verdict_junit(FILE *to, const struct profile *profile, const struct verdict *verdict)
{
	// a partial run fails as a whole, in a case of its own
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite", to);
	put_attribute(to, "name", profile->name);
	fprintf(to, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
		profile->check_count + 1, verdict->missed,
		verdict->unavailable + verdict->is_partial, verdict->skipped);
	fputs("<testcase name=\"the run came to its end\"", to);
	put_attribute(to, "classname", verdict->scenario);
	fputs(verdict->is_partial ? "><error message=\"its figures are of a part of the "
				    "traffic\"/></testcase>\n"
				  : "></testcase>\n",
	      to);
	for (uint32_t i = 0; i < profile->check_count; i++) {
		fputs("<testcase", to);
		put_attribute(to, "name", profile->checks[i].name);
		put_attribute(to, "classname", verdict->scenario);
		fputc('>', to);
		put_outcome(to, &profile->checks[i], &verdict->findings[i]);
		fputs("</testcase>\n", to);
	}
	fputs("</testsuite>\n</testsuites>\n", to);
	return ferror(to) ? -EIO : 0;
}
