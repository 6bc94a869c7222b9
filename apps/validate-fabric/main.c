// SPDX-License-Identifier: Apache-2.0
// weft validate-fabric: arguments, and the loop over the cases of the book.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/core/near_word.h>
#include <weft/files/files.h>
#include <weft/files/signals.h>

#include "acceptance.h"
#include "help.h"
#include "page.h"
#include "weft-validate-fabric_options.h"
#include <weft/files/clock.h>
#include <weft/run/folder.h>
#include <weft/run/outcome.h>

static bool is_stopped(void)
{
	return *signals_stop() != 0;
}

// ---------------------------------------------------------------- arguments

// Words with commas between them.
static int take_required(void *context, const char *text, struct refusal *refusal)
{
	struct acceptance *acceptance = context;
	char *words = strdup(text), *rest = NULL; // kept to the end
	if (words == NULL)
		return refuse(refusal, -ENODEV, "no memory");
	for (char *word = strtok_r(words, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		if (acceptance->required_count == ACCEPTANCE_WORDS_MAX)
			return outcome_bad_word(refusal, "too many of", "--require");
		acceptance->required[acceptance->required_count++] = word;
	}
	return acceptance->required_count > 0
		? 0
		: outcome_bad_word(refusal, "an empty value for", "--require");
}

static const struct option_row option_rows[] = {VALIDATE_FABRIC_OPTIONS(struct acceptance), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "scenario", .least = 1, .most = 1};

// ---------------------------------------------------------------- the book

static bool is_chosen(const struct acceptance *acceptance, const struct acceptance_case *of)
{
	if (acceptance->is_quick && of->is_whole)
		return false;
	return acceptance->only == NULL ||
		strcmp(acceptance->only, section_word(of->section)) == 0 ||
		strcmp(acceptance->only, of->name) == 0;
}

static int choose_cases(struct acceptance *acceptance)
{
	for (uint32_t i = 0; i < acceptance_case_count(); i++)
		if (is_chosen(acceptance, &acceptance_cases[i]))
			acceptance->cases[acceptance->case_count++].of = &acceptance_cases[i];
	if (acceptance->case_count > 0)
		return 0;
	struct near_word near_word = near_word_of(acceptance->only);
	for (uint32_t i = 0; i < acceptance_case_count(); i++) {
		near_word_see(&near_word, section_word(acceptance_cases[i].section));
		near_word_see(&near_word, acceptance_cases[i].name);
	}
	return outcome_bad_name(&acceptance->refusal,
				"no section or case (--list has them) is called", &near_word);
}

static struct scenario_source source_of(const struct acceptance *acceptance, const char *text,
					size_t bytes)
{
	return (struct scenario_source){.path = acceptance->fabric_file.path,
					.text = text,
					.bytes = bytes,
					.sets = acceptance->sets,
					.set_count = acceptance->set_count,
					.faults = acceptance->faults,
					.fault_count = acceptance->fault_count};
}

// What was refused is the scenario with traffic of the book, whose lines are in no file: the
// scenario as it was given says where it is wrong.
static void place_refusal(struct acceptance *acceptance)
{
	static struct scenario scenario; // large: kept off the stack
	struct refusal given = {0};
	if (acceptance->fabric_file.text == NULL ||
	    strcmp(acceptance->refusal.file, acceptance->fabric_file.path) != 0)
		return;
	struct scenario_source source = source_of(acceptance, acceptance->fabric_file.text,
						  acceptance->fabric_file.bytes);
	int rc = scenario_read(&scenario, &source, &given);
	acceptance->refusal.line = acceptance->refusal.column = 0;
	if (rc < 0 && strcmp(given.file, acceptance->fabric_file.path) == 0)
		acceptance->refusal = given;
}

// The fabric with any traffic: whether there is one, and what cases need to know.
static int read_fabric(struct acceptance *acceptance)
{
	char *text = NULL;
	int rc = data_file_read(&acceptance->fabric_file, DATA_PATH_SCENARIOS, acceptance->name,
				&acceptance->refusal);
	if (rc == 0)
		rc = fabric_file_merge(
			&acceptance->fabric_file,
			"name: fabric\ntraffic: {kind: flows, flows: [{from: 0, to: 1, "
			"bytes: 1MB}]}\n",
			&text, &acceptance->refusal);
	if (rc == 0) {
		struct scenario_source source = source_of(acceptance, text, strlen(text));
		rc = scenario_read(&acceptance->scenario, &source, &acceptance->refusal);
	}
	free(text);
	if (rc < 0) {
		place_refusal(acceptance);
		return rc;
	}
	rc = fabric_facts_of(&acceptance->fabric_facts, &acceptance->scenario, acceptance->is_quick,
			     &acceptance->refusal);
	if (rc < 0)
		return rc;
	if (acceptance->fabric_facts.nics < 2)
		return refuse(&acceptance->refusal, -EINVAL, "a fabric of fewer than two NICs");
	return 0;
}

static int make_folders(struct acceptance *acceptance)
{
	char path[ACCEPTANCE_PATH_BYTES];
	int rc = folder_make(acceptance->out, ACCEPTANCE_MARK, &acceptance->refusal);
	snprintf(path, sizeof(path), "%s/cases", acceptance->out);
	if (rc < 0 || mkdir(path, 0777) == 0 || errno == EEXIST)
		return rc;
	return refuse(&acceptance->refusal, -EIO, "cannot make the folder of the cases");
}

// ---------------------------------------------------------------- the loop

static void end_children(struct acceptance *acceptance)
{
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (acceptance->cases[i].child > 0)
			kill(acceptance->cases[i].child, SIGTERM);
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (acceptance->cases[i].child > 0) {
			waitpid(acceptance->cases[i].child, NULL, 0);
			acceptance->cases[i].child = 0;
		}
}

static int say(struct acceptance *acceptance, struct case_run *run)
{
	page_bar_end(outcome_terminal());
	page_line(stdout, acceptance, run);
	return page_write(acceptance);
}

// Waits for one of them. A signal ends the wait.
static int await(struct acceptance *acceptance)
{
	int status;
	pid_t ended = waitpid(-1, &status, 0);
	if (ended < 0)
		return errno == EINTR ? 0 : -EIO;
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (acceptance->cases[i].child == ended && !is_stopped()) {
			int rc = case_end(acceptance, &acceptance->cases[i], status);
			return rc < 0 ? rc : say(acceptance, &acceptance->cases[i]);
		} else if (acceptance->cases[i].child == ended) {
			acceptance->cases[i].child = 0; // stopped with us: it is open
		}
	return 0;
}

static uint32_t under_way(const struct acceptance *acceptance)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		count += acceptance->cases[i].child > 0;
	return count;
}

static int begin(struct acceptance *acceptance, struct case_run *run)
{
	int rc = case_prepare(acceptance, run);
	if (rc < 0)
		return rc;
	return run->state == CASE_OPEN ? case_start(acceptance, run) : say(acceptance, run);
}

static int run_all(struct acceptance *acceptance)
{
	uint32_t next = 0;
	int rc = page_write(acceptance);
	acceptance->start_s = clock_s(CLOCK_MONOTONIC);
	while (rc == 0 && !is_stopped()) {
		uint32_t running = under_way(acceptance);
		if (next < acceptance->case_count && running < acceptance->at_once &&
		    case_awaited(acceptance, &acceptance->cases[next]) == NULL) {
			rc = begin(acceptance, &acceptance->cases[next++]);
		} else if (running > 0) {
			page_bar(outcome_terminal(), acceptance);
			rc = await(acceptance);
		} else {
			break;
		}
	}
	page_bar_end(outcome_terminal());
	end_children(acceptance);
	acceptance->is_done = rc == 0 && !is_stopped();
	int written = page_write(acceptance);
	return rc < 0 ? rc : written;
}

static int validate(struct acceptance *acceptance)
{
	int rc = choose_cases(acceptance);
	file_watch(manifest_take, &acceptance->inputs);
	if (rc == 0)
		rc = coverage_check(acceptance);
	if (rc == 0)
		rc = read_fabric(acceptance);
	file_watch(NULL, NULL);
	if (rc == 0)
		rc = earlier_check(acceptance);
	if (rc == 0 && acceptance->junit != NULL)
		rc = files_check_output(acceptance->junit, &acceptance->refusal);
	if (rc == 0)
		rc = budget_count(acceptance);
	if (rc == 0)
		rc = make_folders(acceptance);
	signals_catch();
	if (rc == 0) {
		budget_say(stdout, acceptance);
		rc = run_all(acceptance);
	}
	free(acceptance->fabric_file.text);
	manifest_rows_free(&acceptance->inputs);
	fabric_facts_free(&acceptance->fabric_facts);
	if (rc < 0)
		return outcome_refused("validate-fabric", &acceptance->refusal, rc);
	page_end(stdout, acceptance);
	if (is_stopped())
		fputs("weft validate-fabric: interrupted; the same call goes on from here\n",
		      stderr);
	return is_stopped() ? EXIT_NOT_VALID : acceptance_status(acceptance);
}

static void list(FILE *to)
{
	for (const struct acceptance_case *one = acceptance_cases; one->name != NULL; one++) {
		char name[64], text[256];
		snprintf(name, sizeof(name), "%-12s %-17s", section_word(one->section), one->name);
		snprintf(text, sizeof(text), "%s%s", one->asks,
			 one->is_whole ? " (not with --quick)" : "");
		folder_list_line(to, 30, name, text);
	}
}

int main(int argc, char **argv)
{
	static struct acceptance acceptance; // large: kept off the stack
	acceptance.with = "sim";
	acceptance.at_once = 1;
	int rc = command_line_read(&arguments, &acceptance, argc, argv, &acceptance.refusal);
	int status = EXIT_SUCCESS;
	acceptance.name = argv[optind];
	if (rc == 0 && !acceptance.wants_list && acceptance.out == NULL)
		rc = outcome_bad_line(&acceptance.refusal, "no folder given: --out is needed");
	if (rc < 0)
		return outcome_refused("validate-fabric", &acceptance.refusal, rc);
	if (acceptance.wants_list)
		list(stdout);
	else if (rc == 0)
		status = validate(&acceptance);
	return outcome_end("validate-fabric", status);
}
