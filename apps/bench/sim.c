// SPDX-License-Identifier: Apache-2.0
// weft bench sim: the standard cases, or a scenario, several times in virtual time. All are run
// once, then all once more, so that what disturbs the machine for a while disturbs all alike.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/files/files.h>

#include "cases.h"
#include "compare.h"
#include "figures.h"
#include "instructions.h"

#define REPEAT_USUAL 5
#define SCENARIO_BYTES_MAX ((size_t)1 << 20)

// The worlds to run: their texts, and what came of them.
struct bench {
	const struct bench_options *options;
	uint32_t count;
	char **texts;
	size_t *bytes;
	struct figures *figures;
	json_t *then; // figures of --compare, or NULL
	struct refusal refusal;
};

static int say_no_memory(struct bench *bench)
{
	return refuse(&bench->refusal, -ENODEV, "no memory for the figures");
}

static int bench_room(struct bench *bench, uint32_t count)
{
	bench->texts = calloc(count, sizeof(*bench->texts));
	bench->bytes = calloc(count, sizeof(*bench->bytes));
	bench->figures = calloc(count, sizeof(*bench->figures));
	if (bench->texts == NULL || bench->bytes == NULL || bench->figures == NULL)
		return say_no_memory(bench);
	return 0;
}

static void bench_free(struct bench *bench)
{
	for (uint32_t i = 0; i < bench->count; i++)
		free(bench->texts[i]);
	free(bench->texts);
	free(bench->bytes);
	free(bench->figures);
	json_decref(bench->then);
}

// ---------------------------------------------------------------- what is run

static int take_scenario(struct bench *bench)
{
	char path[256];
	const char *name = bench->options->scenario_name;
	int rc = bench_room(bench, 1);
	if (rc == 0)
		rc = data_path_find(DATA_PATH_SCENARIOS, name, path, sizeof(path), &bench->refusal);
	if (rc == 0)
		rc = file_read(path, SCENARIO_BYTES_MAX, &bench->texts[0], &bench->bytes[0],
			       &bench->refusal);
	if (rc < 0)
		return rc;
	bench->count = 1;
	snprintf(bench->figures[0].name, FIGURES_NAME_BYTES, "%s", name);
	return 0;
}

static int take_case(struct bench *bench, uint32_t index)
{
	uint32_t i = bench->count;
	const struct bench_case *one = cases_at(index);
	bench->texts[i] = malloc(CASE_TEXT_BYTES);
	if (bench->texts[i] == NULL)
		return say_no_memory(bench);
	bench->bytes[i] = cases_text(index, bench->texts[i], CASE_TEXT_BYTES);
	snprintf(bench->figures[i].name, FIGURES_NAME_BYTES, "%s", one->name);
	bench->figures[i].htsim_instructions = one->htsim_instructions;
	bench->count++;
	return 0;
}

static int take_cases(struct bench *bench)
{
	int rc = bench_room(bench, cases_count());
	for (uint32_t i = 0; rc == 0 && i < cases_count(); i++)
		if (cases_is_chosen(i, bench->options->only))
			rc = take_case(bench, i);
	return rc;
}

// ---------------------------------------------------------------- the runs

// One run of each. A single run needs no process of its own.
static int run_all(struct bench *bench, long repeat)
{
	struct attempt attempt;
	bool is_apart = bench->count > 1 || repeat > 1;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < bench->count; i++) {
		struct figures *figures = &bench->figures[i];
		rc = attempt_run(figures->name, bench->texts[i], bench->bytes[i], is_apart,
				 &attempt, &bench->refusal);
		if (rc == 0)
			rc = figures_take(figures, &attempt, &bench->refusal);
	}
	return rc;
}

static int run_rounds(struct bench *bench)
{
	long repeat = bench->options->repeat > 0 ? bench->options->repeat : REPEAT_USUAL;
	int rc = 0;
	for (long i = 0; rc == 0 && i < repeat; i++) {
		if (isatty(STDERR_FILENO))
			outcome_bar("\rround %ld of %ld ", i + 1, repeat);
		rc = run_all(bench, repeat);
	}
	if (isatty(STDERR_FILENO))
		outcome_bar("\r%40s\r", "");
	for (uint32_t i = 0; rc == 0 && i < bench->count; i++)
		figures_conclude(&bench->figures[i]);
	return rc;
}

static void count_instructions(struct bench *bench)
{
	bool is_case = bench->options->scenario_name == NULL;
	for (uint32_t i = 0; i < bench->count; i++) {
		struct figures *figures = &bench->figures[i];
		figures->instructions = instructions_count(
			is_case ? "--only" : "--scenario",
			is_case ? figures->name : bench->options->scenario_name, figures->reason,
			sizeof(figures->reason));
	}
}

static int show(const struct bench *bench)
{
	const char *json = bench->options->json;
	bool is_shown = json == NULL || strcmp(json, "-") != 0;
	if (is_shown)
		figures_show(bench->figures, bench->count);
	if (is_shown && bench->then != NULL)
		compare_show(bench->then, bench->figures, bench->count);
	return json == NULL ? 0 : json_file_write(figures_json(bench->figures, bench->count), json);
}

static int status_of(int rc)
{
	return rc == -EIO ? EXIT_NOT_VALID : outcome_status(rc);
}

static int run_bench(struct bench *bench)
{
	const struct bench_options *options = bench->options;
	int rc = options->scenario_name != NULL ? take_scenario(bench) : take_cases(bench);
	if (rc == 0 && options->compare != NULL)
		rc = compare_read(options->compare, &bench->then, &bench->refusal);
	if (rc == 0 && json_file_check(options->json) != 0)
		return EXIT_BAD_INPUT;
	if (rc == 0)
		rc = run_rounds(bench);
	if (rc == 0 && options->has_instructions)
		count_instructions(bench);
	return rc < 0 ? say_refusal(&bench->refusal, status_of(rc)) : show(bench);
}

int bench_sim(const struct bench_options *options)
{
	struct bench bench = {.options = options};
	const char *unknown = options->only != NULL ? cases_unknown(options->only) : NULL;
	if (unknown != NULL)
		return bad_word("--list names the cases; there is no", unknown);
	int status = run_bench(&bench);
	bench_free(&bench);
	return status;
}

// ---------------------------------------------------------------- questions

int bench_list(void)
{
	for (uint32_t i = 0; i < cases_count(); i++) {
		const struct bench_case *one = cases_at(i);
		printf("%-20s %s, %s\n", one->name, one->about, one->rate);
	}
	return 0;
}

int bench_show(const char *name)
{
	char text[CASE_TEXT_BYTES];
	for (uint32_t i = 0; i < cases_count(); i++)
		if (strcmp(cases_at(i)->name, name) == 0) {
			cases_text(i, text, sizeof(text));
			fputs(text, stdout);
			return 0;
		}
	return bad_word("--list names the cases; there is no", name);
}
