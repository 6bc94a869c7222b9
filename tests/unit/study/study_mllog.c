// SPDX-License-Identifier: Apache-2.0
// Tests of the reader of MLPerf logs and of its statistics, on logs small enough to work out by
// hand.

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/study/mllog.h>

static struct mllog parsed;
static struct mllog_figures figures;
static struct refusal refusal;
static char text[65536];

static void begin(void)
{
	text[0] = '\0';
}

static void add(const char *line)
{
	strcat(text, line);
	strcat(text, "\n");
}

static void add_step(int number, const char *time_s)
{
	char line[256];
	snprintf(line, sizeof(line),
		 "0: :::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": %s, "
		 "\"reduced_train_loss\": 1.5}, \"metadata\": {\"step\": %d}}",
		 time_s, number);
	add(line);
}

static int parse(void)
{
	refusal = (struct refusal){0};
	return mllog_parse(&parsed, text, strlen(text), &refusal);
}

static void figures_of(double slow_ratio, uint32_t block_steps)
{
	assert_int_equal(parse(), 0);
	assert_int_equal(mllog_figures(&figures, &parsed, slow_ratio, block_steps, &refusal), 0);
}

static void refused(uint32_t line, const char *why)
{
	assert_int_equal(parse(), -EINVAL);
	assert_int_equal(refusal.line, line);
	if (strstr(refusal.text, why) == NULL)
		fail_msg("'%s' does not say '%s'", refusal.text, why);
}

static void what_is_left_out_is_counted(void **)
{
	begin();
	add("a line of another program");
	add_step(0, "9.0"); // slow
	add_step(1, "2.00");
	add_step(2, "2.02");
	add(":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 4.34}}");
	add(":::MLLOG {\"key\": \"eval_start\", \"value\": null}");
	add(":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"validation_step_time\": 0.5}}");
	add(":::MLLOG {\"key\": \"eval_stop\", \"value\": null}");
	add_step(3, "2.01"); // first after the evaluation
	add_step(4, "1.98");
	figures_of(1.02, 18);
	assert_int_equal(figures.records, 6);
	assert_int_equal(figures.means, 1);
	assert_int_equal(figures.steps, 5);
	assert_int_equal(figures.slow, 1);
	assert_int_equal(figures.after_evaluation, 1);
	assert_int_equal(figures.kept, 3);
	assert_float_equal(figures.records_median_s, 2.015, 1e-12); // 2.01 and 2.02
	assert_float_equal(figures.steps_median_s, 2.01, 1e-12);
	assert_float_equal(figures.median_s, 2.00, 1e-12);
	assert_float_equal(figures.mean_s, 2.00, 1e-12);
	assert_float_equal(figures.deviation_s, 0.02, 1e-12);
	assert_float_equal(figures.half_width, 1.96 * 0.01 / sqrt(3), 1e-12);
	assert_float_equal(figures.validation_median_s, 0.5, 1e-12);
	assert_int_equal(figures.outlier_count, 1);
	assert_int_equal(figures.outliers[0].step->line, 2);
	assert_int_equal(parsed.evaluations, 1);
	mllog_free(&parsed);
}

static void a_slow_step_after_an_evaluation_is_left_out_once(void **)
{
	begin();
	add_step(0, "2");
	add_step(1, "2");
	add(":::MLLOG {\"key\": \"eval_start\", \"value\": null}");
	add_step(2, "3");
	add_step(3, "2");
	figures_of(1.02, 18);
	assert_int_equal(figures.slow, 1);
	assert_int_equal(figures.after_evaluation, 0); // and the next one is kept
	assert_int_equal(figures.kept, 3);
	mllog_free(&parsed);
}

static void block_means_have_their_own_spread(void **)
{
	begin();
	static const char *const times[] = {"1.00", "1.02", "1.01", "1.03", "1.04", "1.00", "1.01"};
	for (int i = 0; i < 7; i++)
		add_step(i, times[i]);
	figures_of(2, 2); // blocks: 1.01, 1.02, 1.02; the last step is left over
	assert_int_equal(figures.blocks, 3);
	assert_float_equal(figures.block_min_s, 1.01, 1e-12);
	assert_float_equal(figures.block_max_s, 1.02, 1e-12);
	assert_float_equal(figures.block_cv * figures.mean_s, 0.01 / sqrt(3), 1e-12);
	assert_float_equal(figures.block_cv_if_independent, figures.cv / sqrt(2), 1e-15);
	mllog_free(&parsed);
	figures_of(2, 8);
	assert_int_equal(figures.blocks, 0);
	assert_true(isnan(figures.block_cv) && isnan(figures.block_min_s));
	mllog_free(&parsed);
}

static void the_longest_steps_come_first_and_are_at_most_eight(void **)
{
	begin();
	char time_s[8];
	for (int i = 0; i < 20; i++)
		add_step(i, "1.0");
	for (int i = 0; i < 12; i++) {
		snprintf(time_s, sizeof(time_s), "%d", 2 + (i * 7) % 12);
		add_step(20 + i, time_s);
	}
	figures_of(1.02, 18);
	assert_int_equal(figures.slow, 12);
	assert_int_equal(figures.outlier_count, 8);
	for (int i = 0; i < 8; i++)
		assert_float_equal(figures.outliers[i].ratio, 13 - i, 1e-12);
	mllog_free(&parsed);
}

static void steps_without_a_loss_are_steps_where_none_has_one(void **)
{
	begin();
	for (int i = 0; i < 3; i++)
		add(":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 1}}");
	figures_of(1.02, 18);
	assert_int_equal(figures.steps, 3);
	assert_int_equal(figures.means, 0);
	mllog_free(&parsed);
}

static void a_damaged_line_is_left_out_and_told(void **)
{
	static const struct {
		const char *line, *why;
	} cases[] = {
		{":::MLLOG {\"key\": \"x\", \"value\": ", "not JSON"},
		{":::MLLOG", "not JSON"},
		{":::MLLOG {\"key\": \"a\", \"key\": \"b\"}", "not JSON"},
		{":::MLLOG [1, 2]", "not a JSON object"},
		{":::MLLOG {\"value\": 3}", "no key"},
		{":::MLLOG {\"key\": 7}", "no key"},
		{":::MLLOG {\"key\": \"global_batch_size\", \"value\": 0}", "whole number"},
		{":::MLLOG {\"key\": \"global_batch_size\", \"value\": \"64\"}", "whole number"},
		{":::MLLOG {\"key\": \"gradient_accumulation_steps\", \"value\": 1.5}",
		 "whole number"},
		{":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 0}}",
		 "positive"},
		{":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": -1}}",
		 "positive"},
		{":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": null}}",
		 "positive"},
		{":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": \"1\"}}",
		 "positive"},
		{":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 1e300}}",
		 "positive"},
		{":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"validation_step_time\": 0}}",
		 "positive"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin();
		add_step(0, "1");
		add_step(1, "1");
		add(cases[i].line);
		add_step(2, "1");
		assert_int_equal(parse(), 0);
		assert_int_equal(parsed.step_count, 3);
		assert_int_equal(parsed.damaged, 1);
		assert_int_equal(parsed.first_damaged.line, 3);
		assert_non_null(strstr(parsed.first_damaged.text, cases[i].why));
		mllog_free(&parsed);
		begin();
		add(cases[i].line); // and nothing else
		refused(1, cases[i].why);
	}
}

static void two_ranks_in_one_log_are_refused(void **)
{
	begin();
	add_step(0, "1");
	add_step(0, "1");
	refused(2, "count upwards");
}

// A restarted job appends to its log: with steps that count on, without numbers, without losses.
static void two_runs_in_one_log_are_refused(void **)
{
	static const char start[] = ":::MLLOG {\"key\": \"run_start\", \"value\": null}";
	begin();
	add(start);
	add(start); // each rank may say so
	add_step(0, "1");
	add_step(1, "1");
	assert_int_equal(parse(), 0);
	mllog_free(&parsed);
	add(start);
	add_step(2, "6");
	refused(5, "another run begins here");
	begin();
	for (uint32_t i = 0; i < 4; i++)
		add(i % 2 == 0 ? ":::MLLOG {\"key\": \"tracked_stats\", \"value\": "
				 "{\"train_step_time\": 1}, \"metadata\": {\"step\": 1}}"
			       : ":::MLLOG {\"key\": \"tracked_stats\", \"value\": "
				 "{\"train_step_time\": 1}, \"metadata\": {\"step\": 2}}");
	refused(3, "count upwards");
}

static void a_log_without_steps_is_refused(void **)
{
	begin();
	refused(0, "not an MLPerf log");
	add("hello");
	refused(0, "not an MLPerf log");
	add(":::MLLOG {\"key\": \"eval_start\", \"value\": null}");
	refused(0, "no train_step_time or step_time in 1 entries of the log");
	add(":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"throughput\": 59.1}}");
	refused(0, "its tracked_stats say throughput");
	add(":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"step_time\": 2, \"throughput\": "
	    "1}}");
	assert_int_equal(parse(), 0);
	assert_int_equal(parsed.step_count, 1);
	mllog_free(&parsed);
	add_step(0, "1");
	assert_int_equal(parse(), 0);
	assert_int_equal(mllog_figures(&figures, &parsed, 1.02, 18, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "0 steps are left of 1"));
	mllog_free(&parsed);
}
