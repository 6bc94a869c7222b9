// SPDX-License-Identifier: Apache-2.0
// A verdict as a table, as JSON, and as JUnit XML for systems that run tests.

#include <errno.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include <weft/verdict/report_verdict.h>

#include <weft/result/put.h>
#include <weft/verdict/verdict_show.h>

static const char *const states[] = {"met", "MISSED", "UNAVAILABLE", "skipped", "indicative"};
static const char *const state_words[] = {"met", "missed", "unavailable", "skipped", "indicative"};
static const char *const ends[] = {"PASS", "FAIL", "NOT VALID"};
static const char *const end_words[] = {"pass", "fail", "not_valid"};
static const char *const dimensions[] = {"none", "s", "bit/s", "byte"};

static bool has_figure(const struct finding *finding)
{
	return finding->state == FINDING_MET || finding->state == FINDING_MISSED ||
		finding->state == FINDING_INDICATIVE;
}

const char *verdict_figure(struct text *ret, double value, enum dimension dimension,
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
	return verdict_figure(ret, finding->measured, finding->dimension, bound);
}

static void show_line(FILE *to, const struct profile_check *check, const struct finding *finding)
{
	struct text measured, limit;
	fprintf(to, "%-11s  %-34s %14s  %s", states[finding->state], check->name,
		measured_text(&measured, finding, &check->bound), check->bound_text);
	if (has_figure(finding) && check->bound.of[0] != '\0')
		fprintf(to, " (%s)",
			verdict_figure(&limit, finding->limit, finding->dimension, &check->bound));
	if (has_figure(finding) && finding->where[0] != '\0')
		fprintf(to, "; %s", finding->where);
	if (finding->state == FINDING_INDICATIVE)
		fputs(finding->is_inside ? "; inside" : "; outside", to);
	if (!has_figure(finding))
		fprintf(to, "; %s", finding->reason);
	fputc('\n', to);
}

void verdict_missed(FILE *to, const struct profile_check *check, const struct finding *finding)
{
	struct text measured, limit;
	if (finding->state != FINDING_MISSED)
		return;
	bool is_exact = strncmp(check->bound_text, "is ", 3) == 0;
	fprintf(to, "%s: %s, %s%s", check->name, measured_text(&measured, finding, &check->bound),
		is_exact ? "must be " : "", check->bound_text + (is_exact ? 3 : 0));
	if (check->bound.of[0] != '\0')
		fprintf(to, " (%s)",
			verdict_figure(&limit, finding->limit, finding->dimension, &check->bound));
}

void verdict_show(FILE *to, const struct profile *profile, const struct verdict *verdict)
{
	fprintf(to, "%s held against %s%s%s\n\n", verdict->scenario, profile->name,
		profile->description[0] != '\0' ? ": " : "", profile->description);
	for (uint32_t i = 0; i < profile->check_count; i++)
		show_line(to, &profile->checks[i], &verdict->findings[i]);
	fprintf(to, "\n%s: %u met, %u missed, %u unavailable, %u skipped", ends[verdict->end],
		verdict->met, verdict->missed, verdict->unavailable, verdict->skipped);
	if (verdict->indicative > 0)
		fprintf(to, "; %u indicative, which judge nothing", verdict->indicative);
	fputc('\n', to);
	if (verdict->is_partial)
		fputs("The run did not come to its end: its figures are of a part of the "
		      "traffic.\n",
		      to);
	if (verdict->is_cut)
		fputs("A capture or a log of the run was cut: it is not whole.\n", to);
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
	put(row, "inside", has_figure(finding) ? json_boolean(finding->is_inside) : json_null());
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
	put(root, "cut", json_boolean(verdict->is_cut));
	put_count(root, "met", verdict->met);
	put_count(root, "missed", verdict->missed);
	put_count(root, "unavailable", verdict->unavailable);
	put_count(root, "skipped", verdict->skipped);
	put_count(root, "indicative", verdict->indicative);
	json_t *rows = array_in(root, "checks");
	for (uint32_t i = 0; i < profile->check_count; i++)
		put_check(row_in(rows), &profile->checks[i], &verdict->findings[i]);
	return document_print(to, root, JSON_ENSURE_ASCII);
}

// ---------------------------------------------------------------- JUnit

static struct junit_case case_of(const struct verdict *verdict, const struct profile_check *check,
				 const struct finding *finding, char *why, size_t bytes)
{
	static const enum junit_end junit_ends[] = {JUNIT_PASSED, JUNIT_FAILED, JUNIT_ERROR,
						    JUNIT_SKIPPED, JUNIT_SKIPPED};
	struct text measured, limit;
	snprintf(why, bytes, "%s", finding->reason);
	if (has_figure(finding) && check->bound.is_word)
		snprintf(why, bytes, "measured %s", finding->word);
	else if (has_figure(finding))
		snprintf(why, bytes, "%smeasured %s, held against %s%s%s",
			 check->is_indicative ? "indicative, judges nothing: " : "",
			 measured_text(&measured, finding, &check->bound),
			 verdict_figure(&limit, finding->limit, finding->dimension, &check->bound),
			 finding->where[0] != '\0' ? " at " : "", finding->where);
	return (struct junit_case){.suite = verdict->scenario,
				   .name = check->name,
				   .end = junit_ends[finding->state],
				   .why = why};
}

static bool has_no_whole(const struct verdict *verdict)
{
	return verdict->is_partial || verdict->is_cut;
}

int verdict_junit(FILE *to, const struct junit_origin *origin, const struct profile *profile,
		  const struct verdict *verdict)
{
	char why[256];
	struct junit junit;
	struct junit_suite suite = {.name = profile->name,
				    .tests = profile->check_count + 1,
				    .failures = verdict->missed,
				    .errors = verdict->unavailable + has_no_whole(verdict),
				    .skipped = verdict->skipped + verdict->indicative};
	// what is not whole fails as a whole, in a case of its own
	struct junit_case whole = {.suite = verdict->scenario,
				   .name = "the run came to its end",
				   .end = has_no_whole(verdict) ? JUNIT_ERROR : JUNIT_PASSED,
				   .why = verdict->is_partial
					   ? "its figures are of a part of the traffic"
					   : "a capture or a log of it was cut"};
	junit_open(&junit, to, origin);
	junit_suite(&junit, &suite);
	junit_case(&junit, &whole);
	for (uint32_t i = 0; i < profile->check_count; i++) {
		struct junit_case one = case_of(verdict, &profile->checks[i], &verdict->findings[i],
						why, sizeof(why));
		junit_case(&junit, &one);
	}
	junit_suite_end(&junit);
	return junit_close(&junit);
}
