// SPDX-License-Identifier: Apache-2.0
// Tests of profiles and verdicts, on results small enough to see what each check must say.

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/verdict/report_verdict.h>

#include <weft/result/result.h>

static struct profile profile;
static struct verdict verdict;
static struct refusal refusal;

static const char result[] =
	"{\"schema\": 1, \"weft\": \"weft test\", \"run\": {\"end\": \"done\", \"partial\": "
	"false},\n"
	" \"scenario\": {\"name\": \"small\"}, \"network\": {\"nic_rate_bps\": 400000000000},\n"
	" \"goodput\": {\"per_nic_bps\": 380000000000, \"none_bps\": null,\n"
	"   \"none_bps_reason\": \"not finished\"},\n"
	" \"messages\": [{\"pair\": \"same_t0\", \"p99_ns\": 4000, \"max_ns\": 9000},\n"
	"   {\"pair\": \"across_t1\", \"p99_ns\": 8000, \"max_ns\": null,\n"
	"    \"max_ns_reason\": \"not valid in this sample\"}],\n"
	" \"collectives\": [{\"label\": \"a\", \"busbw_bytes_per_s\": 45000000000},\n"
	"   {\"label\": \"b\", \"busbw_bytes_per_s\": 40000000000}],\n"
	" \"drops\": [], \"expect\": [{\"inside\": true}, {\"inside\": false}],\n"
	" \"congestion\": {\"marked_share\": 0.02, \"queue_bytes_max\": 65536}}\n";

static int judged(const char *path, const char *text)
{
	struct result *own = result_unchecked(json_loads(text, 0, NULL), path);
	int rc = verdict_of(&verdict, &profile, own, NULL, &refusal);
	result_free(own);
	return rc;
}

// A profile of one check, held against the result above.
static const struct finding *held(const char *check)
{
	char text[1024];
	snprintf(text, sizeof(text),
		 "name: one\ndescription: one check\nchecks:\n  - {name: it, source: test, %s}\n",
		 check);
	refusal = (struct refusal){0};
	if (profile_parse(&profile, "one.yaml", text, strlen(text), &refusal) != 0)
		fail_msg("%s: %s", check, refusal.text);
	assert_int_equal(judged("result.json", result), 0);
	return &verdict.findings[0];
}

static void assert_state(const char *check, enum finding_state state)
{
	const struct finding *finding = held(check);
	if (finding->state != state)
		fail_msg("%s: state %d, measured %g, limit %g, %s", check, finding->state,
			 finding->measured, finding->limit, finding->reason);
}

static void bounds_are_words_a_number_and_a_unit(void **state)
{
	static const struct {
		const char *text;
		struct bound bound;
	} good[] = {
		{"at most 50us", {BOUND_AT_MOST, DIMENSION_TIME, false, false, 50e-6, "", ""}},
		{"at least 384Gb/s", {BOUND_AT_LEAST, DIMENSION_RATE, false, false, 384e9, "", ""}},
		{"at least 48 GB/s", {BOUND_AT_LEAST, DIMENSION_RATE, false, false, 384e9, "", ""}},
		{"at most 1.5 MiB",
		 {BOUND_AT_MOST, DIMENSION_BYTES, false, false, 1572864, "", ""}},
		{"is 0", {BOUND_IS, DIMENSION_NONE, false, false, 0, "", ""}},
		{"at most 2 %", {BOUND_AT_MOST, DIMENSION_NONE, true, false, 0.02, "", ""}},
		{"at most 30 ppm", {BOUND_AT_MOST, DIMENSION_NONE, false, false, 30e-6, "", ""}},
		{"is done", {BOUND_IS, DIMENSION_NONE, false, true, 0, "done", ""}},
		{"at least 90 % of a.b",
		 {BOUND_AT_LEAST, DIMENSION_NONE, true, false, 0.9, "", "a.b"}},
	};
	static const char *const bad[] = {
		"",
		"50us",
		"at most",
		"at most fast",
		"at most 1.2.3",
		"at most 5 parsec",
		"at most 5us of a.b",
		"at least 90 % off a.b",
		"at least 90 % of",
		"at least 90 % of a b",
		"is Done",
		"at most -1",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct bound is;
		assert_int_equal(bound_parse(&is, good[i].text, &refusal), 0);
		assert_int_equal(is.kind, good[i].bound.kind);
		assert_int_equal(is.dimension, good[i].bound.dimension);
		assert_int_equal(is.is_percent, good[i].bound.is_percent);
		assert_int_equal(is.is_word, good[i].bound.is_word);
		assert_true(fabs(is.value - good[i].bound.value) <= 1e-12 * is.value);
		assert_string_equal(is.word, good[i].bound.word);
		assert_string_equal(is.of, good[i].bound.of);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct bound is;
		if (bound_parse(&is, bad[i], &refusal) != -EINVAL)
			fail_msg("`%s` is a bound", bad[i]);
	}
}

static void figures_meet_their_bounds_or_miss_them(void **)
{
	assert_state("metric: run.end, bound: is done", FINDING_MET);
	assert_state("metric: run.end, bound: is interrupted", FINDING_MISSED);
	assert_state("metric: run.partial, bound: is false", FINDING_MET);
	assert_state("metric: goodput.per_nic_bps, bound: at least 380Gb/s", FINDING_MET);
	assert_state("metric: goodput.per_nic_bps, bound: at least 381Gb/s", FINDING_MISSED);
	assert_state("metric: goodput.per_nic_bps, bound: at least 95 % of network.nic_rate_bps",
		     FINDING_MET);
	assert_state("metric: goodput.per_nic_bps, bound: at least 96 % of network.nic_rate_bps",
		     FINDING_MISSED);
	assert_state("metric: congestion.marked_share, bound: at most 2 %", FINDING_MET);
	assert_state("metric: congestion.marked_share, bound: at most 1.9 %", FINDING_MISSED);
	assert_state("metric: congestion.queue_bytes_max, bound: at most 64KiB", FINDING_MET);
	assert_state("metric: congestion.queue_bytes_max, bound: at most 65kB", FINDING_MISSED);
	// bus bandwidth is in bytes, the NIC's rate in bits: both are rates
	assert_state("metric: collectives.busbw_bytes_per_s, statistic: max, "
		     "bound: at least 90 % of network.nic_rate_bps",
		     FINDING_MET);
}

static void every_figure_of_a_list_must_hold(void **state)
{
	const struct finding *finding;
	(void)state;
	finding = held("metric: collectives.busbw_bytes_per_s, bound: at least 41GB/s");
	assert_int_equal(finding->state, FINDING_MISSED);
	assert_int_equal(finding->values, 2);
	assert_string_equal(finding->where, "label=b");
	assert_true(finding->measured == 320e9);
	assert_state(
		"metric: collectives.busbw_bytes_per_s, statistic: mean, bound: at least 42.5GB/s",
		FINDING_MET);
	assert_state("metric: collectives.busbw_bytes_per_s, statistic: min, bound: is 40GB/s",
		     FINDING_MET);
	assert_state("metric: collectives.busbw_bytes_per_s, statistic: sum, bound: is 85GB/s",
		     FINDING_MET);
	assert_state("metric: collectives.busbw_bytes_per_s, statistic: count, bound: is 2",
		     FINDING_MET);
	assert_state("metric: drops.switches, statistic: count, bound: is 0", FINDING_MET);
	assert_state("metric: expect.inside, bound: is true", FINDING_MISSED);
	assert_state("metric: messages, statistic: p99, scope: pair=same_t0, bound: at most 4us",
		     FINDING_MET);
	assert_state("metric: messages, statistic: p99, scope: pair=across_t1, bound: at most 7us",
		     FINDING_MISSED);
	finding = held("metric: messages, statistic: p99, bound: is 8us");
	assert_int_equal(finding->state, FINDING_MISSED); // the other is 4 us off
	assert_string_equal(finding->where, "pair=same_t0");
}

static void assert_missing(const char *check, const char *reason)
{
	char text[512];
	const struct finding *finding = held(check);
	if (finding->state != FINDING_UNAVAILABLE || strstr(finding->reason, reason) == NULL)
		fail_msg("%s: state %d, `%s`", check, finding->state, finding->reason);
	assert_int_equal(verdict.end, VERDICT_NOT_VALID);
	snprintf(text, sizeof(text), "required: false, %s", check);
	assert_state(text, FINDING_SKIPPED);
}

static void what_is_missing_is_never_met(void **)
{
	assert_missing("metric: goodput.none_bps, bound: at least 0Gb/s", "not finished");
	assert_missing("metric: goodput.nothing, bound: is 0", "the result has no nothing");
	assert_missing("metric: pfc.deadlock.ports, bound: is 0", "the result has no pfc");
	assert_missing("metric: drops.switches, bound: is 0", "this run has none");
	assert_missing("metric: drops.switches, statistic: sum, bound: at most 0",
		       "this run has none");
	assert_missing("metric: messages, statistic: max, bound: at most 1s",
		       "not valid in this sample");
	assert_missing("metric: messages, statistic: p50, bound: at most 1s", "no such statistic");
	assert_missing("metric: messages, bound: at most 1s", "no such statistic");
	assert_missing("metric: goodput.per_nic_bps, statistic: p99, bound: at least 1Gb/s",
		       "no such statistic");
	assert_missing("metric: messages, statistic: p99, scope: pair=same_rack, bound: at most 1s",
		       "nothing is in the scope");
	assert_missing("metric: messages, statistic: p99, scope: paar=same_t0, bound: at most 1s",
		       "nothing is in the scope");
	// seconds are no bits per second, words no numbers
	assert_missing("metric: goodput.per_nic_bps, bound: at most 5s", "not of one kind");
	assert_missing("metric: goodput.per_nic_bps, bound: at most 5", "not of one kind");
	assert_missing("metric: goodput.per_nic_bps, bound: is done", "a number, not done");
	assert_missing("metric: run.end, bound: is 0", "the figure is a word");
	assert_missing("metric: run, bound: is 0", "no such statistic");
	assert_missing("metric: goodput.per_nic_bps, bound: at least 1 % of network.none",
		       "no one number");
	assert_missing("metric: goodput.per_nic_bps, bound: at least 1 % of run.end",
		       "no one number");
}

// study.json: a list in a list, and units beside the figures.
static void a_study_is_held_against_bounds_as_well(void **state)
{
	static const char study[] =
		"{\"schema\": 2, \"weft\": \"weft test\", \"scenario\": \"small\", \"partial\": "
		"false,"
		"\"figures\": [{\"name\": \"goodput\", \"unit\": \"bits per second\","
		" \"points\": [{\"min\": 9e9}, {\"min\": 7e9}]},"
		"{\"name\": \"done\", \"unit\": \"seconds\", \"points\": [{\"min\": 2}]}]}";
	static const char text[] = "name: a\nchecks:\n"
				   "  - {name: a, metric: figures.points.min, source: s,\n"
				   "     scope: name=goodput, bound: at least 7Gb/s}\n"
				   "  - {name: b, metric: figures.points.min, source: s,\n"
				   "     scope: name=goodput, bound: at least 8Gb/s}\n"
				   "  - {name: c, metric: figures.points.min, source: s,\n"
				   "     scope: name=done, bound: at most 2s}\n";
	(void)state;
	assert_int_equal(profile_parse(&profile, "p", text, strlen(text), &refusal), 0);
	assert_int_equal(judged("s", study), 0);
	assert_int_equal(verdict.findings[0].state, FINDING_MET);
	assert_int_equal(verdict.findings[1].state, FINDING_MISSED);
	assert_int_equal(verdict.findings[2].state, FINDING_MET);
	assert_string_equal(verdict.scenario, "small");
}

static void a_partial_run_never_passes(void **state)
{
	char partial[sizeof(result)];
	(void)state;
	assert_state("metric: run.end, bound: is done", FINDING_MET);
	assert_int_equal(verdict.end, VERDICT_PASS);
	strcpy(partial, result);
	char *flag = strstr(partial, "false}");
	memcpy(flag, "true }", 6);
	assert_int_equal(judged("partial", partial), 0);
	assert_true(verdict.is_partial);
	assert_int_equal(verdict.end, VERDICT_NOT_VALID);
}

// The worst of the result against the worst of the baseline, each by the check's own rule.
static void bounds_of_a_baseline_need_one(void **state)
{
	static const char less[] =
		"{\"schema\": 1, \"weft\": \"w\", \"collectives\": [{\"busbw_bytes_per_s\": "
		"50000000000}, {\"busbw_bytes_per_s\": 42000000000}]}";
	struct result *own = result_unchecked(json_loads(result, 0, NULL), "r");
	struct result *other = result_unchecked(json_loads(less, 0, NULL), "b");
	(void)state;
	assert_state("metric: collectives.busbw_bytes_per_s, bound: at least 95 % of baseline",
		     FINDING_UNAVAILABLE);
	assert_int_equal(verdict_of(&verdict, &profile, own, other, &refusal), 0);
	assert_int_equal(verdict.findings[0].state, FINDING_MET); // 40 of 0.95 x 42 GB/s
	assert_true(fabs(verdict.findings[0].limit - 0.95 * 42e9 * 8) < 1);
	assert_state("metric: collectives.busbw_bytes_per_s, bound: at least 96 % of baseline",
		     FINDING_UNAVAILABLE);
	assert_int_equal(verdict_of(&verdict, &profile, own, other, &refusal), 0);
	assert_int_equal(verdict.end, VERDICT_FAIL); // 40.32 GB/s
	other->is_partial = true;
	assert_int_equal(verdict_of(&verdict, &profile, own, other, &refusal), -EINVAL);
	assert_string_equal(refusal.file, "b");
	result_free(own);
	result_free(other);
}

static void what_is_indicative_judges_nothing(void **)
{
	assert_state("metric: congestion.marked_share, bound: at most 1 %, indicative: true",
		     FINDING_INDICATIVE);
	assert_false(verdict.findings[0].is_inside);
	assert_int_equal(verdict.indicative, 1);
	assert_int_equal(verdict.missed, 0);
	assert_int_equal(verdict.end, VERDICT_NOT_VALID); // nothing was judged
	assert_state("metric: congestion.marked_share, bound: at most 3 %, indicative: true",
		     FINDING_INDICATIVE);
	assert_true(verdict.findings[0].is_inside);
	assert_state("metric: goodput.none_bps, bound: at least 1Gb/s, indicative: true",
		     FINDING_SKIPPED);
}

static void a_book_is_refused(void **)
{
	assert_state("metric: run.end, bound: is done", FINDING_MET);
	assert_int_equal(judged("r", "{\"cases\": [], \"sections\": []}"), -EINVAL);
	assert_string_equal(refusal.file, "r");
}

static void assert_refused(const char *text, uint32_t line, const char *says)
{
	refusal = (struct refusal){0};
	int rc = profile_parse(&profile, "bad.yaml", text, strlen(text), &refusal);
	if (rc != -EINVAL || refusal.line != line || strstr(refusal.text, says) == NULL ||
	    strcmp(refusal.file, "bad.yaml") != 0)
		fail_msg("%s\n%d, %s:%u: %s", text, rc, refusal.file, refusal.line, refusal.text);
}

static void bad_profiles_are_refused_with_their_place(void **state)
{
#define HEAD "name: x\ndescription: y\nchecks:\n"
	(void)state;
	assert_refused("", 1, "nothing");
	assert_refused("- a\n", 1, "something else");
	assert_refused("name: x\n", 1, "no `checks`");
	assert_refused("checks: []\nname: x\n", 1, "no `checks`");
	assert_refused(HEAD "  - {metric: a, bound: is 0, source: s}\n", 4, "no `name`");
	assert_refused(HEAD "  - {name: n, bound: is 0, source: s}\n", 4, "no `metric`");
	assert_refused(HEAD "  - {name: n, metric: a, source: s}\n", 4, "no `bound`");
	assert_refused(HEAD "  - {name: n, metric: a, bound: is 0}\n", 4, "no `source`");
	assert_refused(HEAD "  - {name: n, metric: a, bound: soon, source: s}\n", 4, "not a bound");
	assert_refused(HEAD "  - {name: n, metric: a, bound: is 0, source: s, stat: p99}\n", 4,
		       "not `stat`");
	assert_refused(HEAD "  - {name: n, metric: a, bound: is 0, source: s, required: yes}\n", 4,
		       "true or false");
	assert_refused(HEAD "  - {name: n, name: m, metric: a, bound: is 0, source: s}\n", 4,
		       "given twice");
	assert_refused(HEAD "  - {name: n, metric: a, bound: is 0, source: s}\n"
			    "  - {name: n, metric: a, bound: is 0, source: s}\n",
		       5, "two checks");
	assert_refused(HEAD "  - nothing\n", 4, "keys and values");
	assert_refused("name: x\nlimits: 3\n", 2, "not `limits`");
	assert_refused("name: [x\n", 1, "not YAML");
}
