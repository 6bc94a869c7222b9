// SPDX-License-Identifier: Apache-2.0
// A study for people: a table for each figure when there are several seeds, a line for each point
// of a sweep, or when there is one seed; then what seeds or swept keys do not change, and what the
// scenario expects.

#include "study.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <weft/world/world_warning.h>

#include <weft/result/expect.h>
#include <weft/result/links.h>

#define LINE_COLUMNS 96

// ---------------------------------------------------------------- head

static void head(FILE *to, const struct report_study *study)
{
	uint32_t all = study->points * study->plan.seeds;
	fprintf(to, "%s: ", study->scenario);
	if (study->points > 1)
		fprintf(to, "%u points, ", study->points);
	if (study->plan.seeds > 1)
		fprintf(to, "%u seeds from %" PRIu64 " on%s\n", study->plan.seeds,
			study->plan.seed_first,
			study->plan.sweep_count > 0 ? "" : "; mean, 95 % confidence, extremes");
	else
		fprintf(to, "seed %" PRIu64 "\n", study->plan.seed_first);
	if (study->plan.sweep_count > 0) {
		fprintf(to, "  points:%s", study->plan.variants > 1 ? " variant" : "");
		for (uint32_t i = 0; i < study->plan.sweep_count; i++)
			fprintf(to, " %s", study->plan.sweeps[i].key);
		fputc('\n', to);
	}
	uint64_t left_out = study_places(&study->plan) - study->points;
	if (left_out > 0)
		fprintf(to,
			"  left out: %" PRIu64
			" more point%s, whose values do not go together: %s\n",
			left_out, left_out > 1 ? "s" : "", study->plan.left_out_why);
	if (study->taken < all)
		fprintf(to, "PARTIAL RESULT: %u of %u runs\n", study->taken, all);
	if (study->complete < study->taken)
		fprintf(to,
			"INCOMPLETE: %u of %u runs did not finish; figures are of the "
			"others\n",
			study->taken - study->complete, study->taken);
}

// Runs that did not finish, and why: they are in no figure.
static void incomplete(FILE *to, const struct report_study *study)
{
	char name[STUDY_NAME_BYTES];
	uint32_t shown = 0;
	for (uint32_t point = 0; point < study->points; point++) {
		for (uint32_t seed = 0; seed < study->plan.seeds; seed++) {
			const struct study_run *run = study_run_at(study, point, seed);
			if (run == NULL || run->is_complete || shown++ >= 10)
				continue;
			study_label(study, point, name);
			fprintf(to, "  %s, seed %" PRIu64 ": %s\n", name,
				study->plan.seed_first + seed, run->end);
		}
	}
	if (shown > 10)
		fprintf(to, "  and %u more\n", shown - 10);
}

// Width of the column of names: names may be long, lines should not be.
static int name_width(const struct report_study *study)
{
	char name[STUDY_NAME_BYTES];
	size_t widest = 0;
	for (uint32_t point = 0; point < study->points; point++) {
		study_label(study, point, name);
		widest = strlen(name) > widest ? strlen(name) : widest;
	}
	return widest < 12 ? 12 : widest > 40 ? 40 : (int)widest;
}

// ---------------------------------------------------------------- several seeds

static const char *verdict_text(const struct spread_difference *difference, char *ret, size_t bytes)
{
	switch (difference->verdict) {
	case SPREAD_DIFFERS:
		snprintf(ret, bytes, "yes, p %s%.4f", difference->chance < 1e-4 ? "< " : "",
			 fmax(difference->chance, 1e-4));
		break;
	case SPREAD_NOISE:
		snprintf(ret, bytes, "not significant, p %.2f", difference->chance);
		break;
	default:
		snprintf(ret, bytes, "%s", spread_verdict_name(difference->verdict));
	}
	return ret;
}

static void spread_line(FILE *to, const struct report_study *study, uint32_t point, uint32_t figure,
			int width)
{
	enum study_unit unit = study_figure(figure)->unit;
	struct text text[5];
	char name[STUDY_NAME_BYTES], verdict[32];
	struct spread_figures spread, first;
	struct spread_difference difference;
	study_label(study, point, name);
	study_spread(study, 0, figure, &first);
	study_spread(study, point, figure, &spread);
	bool is_there = spread.count > 0;
	fprintf(to, "  %-*.*s %5u %12s %11s %12s %12s", width, width, name, spread.count,
		study_number(&text[0], unit, is_there ? spread.mean : NAN),
		study_number(&text[1], unit, spread.half),
		study_number(&text[2], unit, is_there ? spread.min : NAN),
		study_number(&text[3], unit, is_there ? spread.max : NAN));
	if (study->points > 1 && point > 0 && is_there && first.count > 0) {
		study_difference(study, point, figure, &difference);
		if (first.mean != 0)
			fprintf(to, " %8.4f", spread.mean / first.mean);
		else
			fprintf(to, " %8s", "-");
		fprintf(to, "  %s", verdict_text(&difference, verdict, sizeof(verdict)));
	}
	fputc('\n', to);
}

static void figure_table(FILE *to, const struct report_study *study, uint32_t figure, int width)
{
	fprintf(to, "\n%s\n", study_figure(figure)->title);
	fprintf(to, "  %-*s %5s %12s %11s %12s %12s", width, "", "runs", "mean", "+- 95 %", "min",
		"max");
	if (study->points > 1)
		fprintf(to, " %8s  %s", "of first", "differs");
	fputc('\n', to);
	for (uint32_t point = 0; point < study->points; point++)
		spread_line(to, study, point, figure, width);
}

// Where flows of a point collide, all points whose flows keep to the path of their hash.
static void collision_table(FILE *to, const struct report_study *study)
{
	struct spread_figures spread;
	uint32_t figure = 0, colliding = 0;
	while (study_figure(figure)->of != links_collide)
		figure++;
	for (uint32_t point = 0; point < study->points; point++) {
		study_spread(study, point, figure, &spread);
		colliding += spread.count > 0 && spread.max >= LINKS_COLLIDE_MIN;
	}
	if (colliding > 0)
		figure_table(to, study, figure, name_width(study));
}

// Figures that are 0 in all runs need no table.
static void zero_lines(FILE *to, const struct report_study *study)
{
	size_t used = 0;
	for (uint32_t i = 0; i < study_figure_count(); i++) {
		if (!study_is_zero(study, i))
			continue;
		size_t more = strlen(study_figure(i)->name) + 2;
		if (used == 0)
			used = (size_t)fprintf(to, "\n0 in all runs: ");
		else if (used + more > LINE_COLUMNS)
			used = (size_t)fprintf(to, ",\n  ");
		else
			used += (size_t)fprintf(to, ", ");
		used += (size_t)fprintf(to, "%s", study_figure(i)->name);
	}
	if (used > 0)
		fputc('\n', to);
}

static void figure_tables(FILE *to, const struct report_study *study, bool is_short)
{
	int width = name_width(study);
	for (uint32_t i = 0; i < study_figure_count(); i++)
		if (study_has(study, i) && !study_is_zero(study, i) &&
		    (!is_short || study_figure(i)->is_head))
			figure_table(to, study, i, width);
	if (is_short) {
		collision_table(to, study);
		return;
	}
	zero_lines(to, study);
	if (study->points > 1)
		fprintf(to,
			"\ndiffers: seed by seed from the first line, by Student's t; all verdicts "
			"of a table hold\ntogether with 95 %% confidence, so that 1 table in 20 "
			"has a false `yes`\n");
}

// ---------------------------------------------------------------- one seed

// The columns of a line for each point.
static const char *const columns[] = {"goodput_bps",	     "done_s",	       "ideal_share",
				      "fct_p99_s",	     "collective_s",   "marked_share",
				      "retransmitted_share", "queue_bytes_max"};
#define COLUMN_COUNT (sizeof(columns) / sizeof(*columns))
static const char *const heads[COLUMN_COUNT] = {"goodput",    "done at", "of ideal", "FCT p99",
						"collective", "marked",	 "retx",     "queue max"};

static bool is_share(uint32_t figure)
{
	return study_figure(figure)->unit == STUDY_SHARE;
}

// A rate takes ten places ("50.93 Gb/s"), all others eight; and the head must fit.
static int column_width(size_t column)
{
	enum study_unit unit = study_figure(report_study_figure_named(columns[column]))->unit;
	int head = (int)strlen(heads[column]), least = unit == STUDY_RATE ? 10 : 8;
	return head > least ? head : least;
}

// Of one seed the run's digest and how it ended, of several how sure the time is.
static void point_end(FILE *to, const struct report_study *study, uint32_t point)
{
	const struct study_run *run = study_run_at(study, point, 0);
	struct spread_difference difference;
	struct spread_figures spread;
	struct text text;
	uint32_t done = report_study_figure_named("done_s");
	if (study->plan.seeds == 1) {
		if (run != NULL)
			fprintf(to, "  %016" PRIx64 "%s", run->digest,
				run->is_sample ? "  sample" : "");
		fprintf(to, "%s%s\n",
			run == NULL		   ? "  not run"
				: run->is_complete ? ""
						   : " ",
			run == NULL || run->is_complete ? "" : run->end);
		return;
	}
	study_spread(study, point, done, &spread);
	fprintf(to, " %10s", study_number(&text, STUDY_TIME, spread.half));
	if (point > 0 && spread.count > 0) {
		study_difference(study, point, done, &difference);
		fprintf(to, "  %s",
			difference.verdict == SPREAD_DIFFERS ? "yes"
				: difference.verdict == SPREAD_NOISE
				? "no"
				: spread_verdict_name(difference.verdict));
	}
	fputc('\n', to);
}

static void point_line(FILE *to, const struct report_study *study, uint32_t point, int width)
{
	char name[STUDY_NAME_BYTES];
	struct text text;
	study_label(study, point, name);
	fprintf(to, "  %-*.*s", width, width, name);
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		uint32_t figure = report_study_figure_named(columns[i]);
		struct spread_figures spread;
		if (!study_has(study, figure))
			continue;
		study_spread(study, point, figure, &spread);
		double mean = spread.count > 0 ? spread.mean : NAN;
		if (is_share(figure) && !isnan(mean))
			snprintf(text.at, sizeof(text.at), "%.3g %%", 100 * mean);
		else
			study_number(&text, study_figure(figure)->unit, mean);
		fprintf(to, " %*s", column_width(i), text.at);
	}
	point_end(to, study, point);
}

static double mean_of(const struct report_study *study, uint32_t point, const char *name)
{
	struct spread_figures spread;
	study_spread(study, point, report_study_figure_named(name), &spread);
	return spread.count > 0 ? spread.mean : 0;
}

static bool is_of_mrc(const struct report_study *study, uint32_t point)
{
	const struct study_run *run = study_run_at(study, point, 0);
	return run != NULL && run->is_mrc;
}

// The first point of MRC against each of RoCEv2.
static void mrc_against_roce(FILE *to, const struct report_study *study)
{
	char name[STUDY_NAME_BYTES], other[STUDY_NAME_BYTES];
	uint32_t mrc = 0;
	while (mrc < study->points && !is_of_mrc(study, mrc))
		mrc++;
	for (uint32_t point = 0; point < study->points && mrc < study->points; point++) {
		double goodput = mean_of(study, point, "goodput_bps");
		double done_s = mean_of(study, point, "done_s"),
		       own_s = mean_of(study, mrc, "done_s");
		if (is_of_mrc(study, point) || goodput <= 0)
			continue;
		study_label(study, mrc, name);
		study_label(study, point, other);
		fprintf(to, "MRC against RoCE (%s against %s): %.2f times the goodput", name, other,
			mean_of(study, mrc, "goodput_bps") / goodput);
		if (done_s > 0 && own_s > 0)
			fprintf(to, ", %.2f of the time", own_s / done_s);
		fputc('\n', to);
	}
}

static void point_table(FILE *to, const struct report_study *study)
{
	int width = name_width(study);
	bool is_one = study->plan.seeds == 1;
	fprintf(to, "  %-*s", width, "");
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		if (study_has(study, report_study_figure_named(columns[i])))
			fprintf(to, " %*s", column_width(i), heads[i]);
	fprintf(to, "%s\n", is_one ? "  digest" : "   done +-  differs");
	for (uint32_t point = 0; point < study->points; point++)
		point_line(to, study, point, width);
	if (!is_one)
		fprintf(to,
			"means of %u seeds, and 95 %% confidence of when it is done; whether that "
			"differs from the\nfirst line's, seed by seed; --out and --json have the "
			"intervals of all figures\n",
			study->plan.seeds);
	mrc_against_roce(to, study);
	collision_table(to, study);
}

// ---------------------------------------------------------------- warnings

// Where all points have it, none is named.
static void warning_line(FILE *to, const struct report_study *study, uint32_t index)
{
	char name[STUDY_NAME_BYTES];
	const char *between = ": ";
	uint32_t count = 0;
	for (uint32_t point = 0; point < study->points; point++)
		count += study_warned_at(study, point) >> index & 1;
	if (count == 0)
		return;
	fprintf(to, "WARNING %s", world_warning_name(index));
	for (uint32_t point = 0; count < study->points && point < study->points; point++) {
		if (!(study_warned_at(study, point) >> index & 1))
			continue;
		study_label(study, point, name);
		fprintf(to, "%s%s", between, name);
		between = ", ";
	}
	fputc('\n', to);
}

static void warning_lines(FILE *to, const struct report_study *study)
{
	for (uint32_t i = 0; world_warning_name(i) != NULL; i++)
		warning_line(to, study, i);
}

// ---------------------------------------------------------------- swept keys, expectations

static void sweep_lines(FILE *to, const struct report_study *study)
{
	static const char *const says[] = {
		[STUDY_UNKNOWN] = "not known: too few runs finished",
		[STUDY_CHANGES] = "changes figures in this range",
		[STUDY_NOISE] = "no effect beyond noise",
		[STUDY_FLAT] = "flat: key has no effect on any figure in this range (digests "
			       "differ)",
		[STUDY_NOTHING] = "flat: key has no effect on any figure in this range (nor on the "
				  "digest)",
	};
	if (study->plan.sweep_count > 0)
		fputc('\n', to);
	for (uint32_t i = 0; i < study->plan.sweep_count; i++) {
		const struct study_sweep *sweep = &study->plan.sweeps[i];
		enum study_flatness flatness = study_flatness_of(study, i);
		fprintf(to, "%s, %s to %s: %s", sweep->key, sweep->values[0],
			sweep->values[sweep->count - 1], says[flatness]);
		if (flatness == STUDY_NOISE)
			fprintf(to, " (%u seeds; try %u)", study->plan.seeds,
				study->plan.seeds < 10 ? 10 : 2 * study->plan.seeds);
		fputc('\n', to);
	}
}

static void expectation_lines(FILE *to, const struct report_study *study)
{
	if (study->expectation_count > 0)
		fprintf(to, "\nExpected\n");
	for (uint32_t i = 0; i < study->expectation_count; i++) {
		struct study_expected expected;
		struct text text[2];
		study_expected(study, i, &expected);
		if (expected.runs == 0)
			continue;
		fprintf(to, "  %-20s %-12s %u of %u runs inside; expected %s, mean %s, %s\n",
			expected.name, expected.variant, expected.inside, expected.runs,
			expect_value_text(&text[0], expected.measure, expected.expected.mean),
			expect_value_text(&text[1], expected.measure,
					  expected.measured.count > 0 ? expected.measured.mean
								      : NAN),
			expected.inside == expected.runs ? "ok" : "MISSED");
	}
}

void report_study_table(FILE *to, const struct report_study *study, bool is_short)
{
	head(to, study);
	incomplete(to, study);
	warning_lines(to, study);
	if (study->plan.seeds > 1 && study->plan.sweep_count == 0)
		figure_tables(to, study, is_short);
	else
		point_table(to, study);
	sweep_lines(to, study);
	study_best_lines(to, study);
	expectation_lines(to, study);
}
