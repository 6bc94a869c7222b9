// SPDX-License-Identifier: Apache-2.0
// Fuzz: any bytes as result.json, study.json or book.json. What is accepted can be judged, compared
// with itself and shown; what is partial passes no profile; what is refused has a reason and a
// file.

#include <errno.h>

#include <weft/page/report_html.h>
#include <weft/result/report_result.h>
#include <weft/result/result.h>
#include <weft/study/run_diff.h>

#define FUZZ_HAS_COMMANDS
#include "target.h"

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {"{}", NULL};
const char *const fuzz_commands[] = {
	"\"$WEFT\" sim two-racks --json", "\"$WEFT\" sim two-planes --json --set limits.time=20us",
	"\"$WEFT\" sim two-planes --seeds 2 --sweep queue.bytes=64KiB,128KiB --json",
	"at=$(mktemp -d) && \"$WEFT\" validate-fabric two-planes --quick --only one-packet --out "
	"\"$at/book\" >\"$at/said\" && cat \"$at/book/book.json\"; rm -r \"$at\"",
	NULL};
#endif

static const char done[] = "name: done\nchecks: [{name: it, metric: schema, bound: at least 1, "
			   "source: fuzz}]\n";

static void judge(const struct result *result)
{
	static struct profile profile;
	static struct verdict verdict;
	static struct run_diff run_diff;
	struct refusal refusal = {0};
	if (profile.check_count == 0)
		check(profile_parse(&profile, "p", done, sizeof(done) - 1, &refusal) == 0);
	int rc = verdict_of(&verdict, &profile, result, NULL, &refusal);
	check((rc == 0) == (result_kind(result) != RESULT_ACCEPTANCE));
	if (rc < 0)
		return;
	check((verdict.end == VERDICT_PASS) == !result->is_partial);
	rc = run_diff_of(&run_diff, result, result, &refusal);
	check(rc == 0 || (rc == -EINVAL && refusal.text[0] != '\0')); // nothing to compare
	check(rc < 0 || (run_diff.differing == 0 && run_diff_beyond(&run_diff, 0) == NULL));
	check(rc < 0 || run_diff.is_partial == result->is_partial);
	run_diff_free(&run_diff);
}

static void show(const struct result *result, FILE *to)
{
	const struct html_input input = {
		.result = result, .style = "", .script = "", .version = "fuzz"};
	struct refusal refusal = {0};
	struct report_model *report_model;
	check(report_model_create(&report_model, &input, &refusal) == 0);
	check(report_model_show(to, report_model) == 0 &&
	      html_write(to, report_model, &input) == 0);
	if (report_model_is_result(report_model))
		check(report_model_metrics(to, report_model) == 0 &&
		      report_model_csv(to, report_model) == 0);
	report_model_free(report_model);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	static FILE *nowhere;
	struct refusal refusal = {0};
	struct result *result;
	char *text = malloc(bytes + (bytes == 0)); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	int rc = result_parse(&result, "a/result.json", text, bytes, &refusal);
	free(text);
	if (nowhere == NULL)
		nowhere = fopen("/dev/null", "w");
	check(nowhere != NULL);
	if (rc < 0) {
		check(rc == -EINVAL && result == NULL && refusal.text[0] != '\0');
		check(strcmp(refusal.file, "a/result.json") == 0);
		return;
	}
	judge(result);
	show(result, nowhere);
	result_free(result);
}
