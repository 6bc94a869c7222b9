// SPDX-License-Identifier: Apache-2.0
// weft validate-fabric: arguments, and the loop over the cases of the book.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/files/files.h>
#include <weft/files/signals.h>

#include "budget.h"
#include "coverage.h"
#include "earlier.h"
#include "help.h"
#include "page.h"
#include "weft-validate-fabric_options.h"
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
	struct book *book = context;
	char *words = strdup(text), *rest = NULL; // kept to the end
	if (words == NULL)
		return refuse(refusal, -ENODEV, "no memory", 0, 0, 0);
	for (char *word = strtok_r(words, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		if (book->required_count == BOOK_WORDS_MAX)
			return outcome_bad_word(refusal, "too many of", "--require");
		book->required[book->required_count++] = word;
	}
	return book->required_count > 0
		? 0
		: outcome_bad_word(refusal, "an empty value for", "--require");
}

static const struct option_row option_rows[] = {VALIDATE_FABRIC_OPTIONS(struct book), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "scenario", .least = 1, .most = 1};

// ---------------------------------------------------------------- the book

static bool is_chosen(const struct book *book, const struct book_case *of)
{
	if (book->is_quick && of->is_whole)
		return false;
	return book->only == NULL || strcmp(book->only, section_word(of->section)) == 0 ||
		strcmp(book->only, of->name) == 0;
}

static int choose_cases(struct book *book)
{
	for (uint32_t i = 0; i < book_case_count(); i++)
		if (is_chosen(book, &book_cases[i]))
			book->cases[book->case_count++].of = &book_cases[i];
	if (book->case_count > 0)
		return 0;
	return outcome_bad_word(&book->refusal, "no section or case (--list has them) is called",
				book->only);
}

static struct scenario_source source_of(const struct book *book, const char *text, size_t bytes)
{
	return (struct scenario_source){.path = book->scene.path,
					.text = text,
					.bytes = bytes,
					.sets = book->sets,
					.set_count = book->set_count,
					.faults = book->faults,
					.fault_count = book->fault_count};
}

// What was refused is the scenario with traffic of the book, whose lines are in no file: the
// scenario as it was given says where it is wrong.
static void place_refusal(struct book *book)
{
	static struct scenario scenario; // large: kept off the stack
	struct refusal given = {0};
	if (book->scene.text == NULL || strcmp(book->refusal.file, book->scene.path) != 0)
		return;
	struct scenario_source source = source_of(book, book->scene.text, book->scene.bytes);
	int rc = scenario_read(&scenario, &source, &given);
	book->refusal.line = book->refusal.column = 0;
	if (rc < 0 && strcmp(given.file, book->scene.path) == 0)
		book->refusal = given;
}

// The fabric with any traffic: whether there is one, and what cases need to know.
static int read_fabric(struct book *book)
{
	char *text = NULL;
	int rc = scene_read(&book->scene, book->name, &book->refusal);
	if (rc == 0)
		rc = scene_merge(&book->scene,
				 "name: fabric\ntraffic: {kind: flows, flows: [{from: 0, to: 1, "
				 "bytes: 1MB}]}\n",
				 &text, &book->refusal);
	if (rc == 0) {
		struct scenario_source source = source_of(book, text, strlen(text));
		rc = scenario_read(&book->scenario, &source, &book->refusal);
	}
	free(text);
	if (rc < 0) {
		place_refusal(book);
		return rc;
	}
	rc = facts_of(&book->facts, &book->scenario, book->is_quick, &book->refusal);
	if (rc < 0)
		return rc;
	if (book->facts.nics < 2)
		return refuse(&book->refusal, -EINVAL, "a fabric of fewer than two NICs");
	return 0;
}

static int make_folders(struct book *book)
{
	char path[BOOK_PATH_BYTES];
	int rc = folder_make(book->out, BOOK_MARK, &book->refusal);
	snprintf(path, sizeof(path), "%s/cases", book->out);
	if (rc < 0 || mkdir(path, 0777) == 0 || errno == EEXIST)
		return rc;
	return refuse(&book->refusal, -EIO, "cannot make the folder of the cases");
}

// ---------------------------------------------------------------- the loop

static void end_children(struct book *book)
{
	for (uint32_t i = 0; i < book->case_count; i++)
		if (book->cases[i].child > 0)
			kill(book->cases[i].child, SIGTERM);
	for (uint32_t i = 0; i < book->case_count; i++)
		if (book->cases[i].child > 0) {
			waitpid(book->cases[i].child, NULL, 0);
			book->cases[i].child = 0;
		}
}

static int say(struct book *book, struct case_run *run)
{
	page_bar_end(outcome_terminal());
	page_line(stdout, book, run);
	return page_write(book);
}

// Waits for one of them. A signal ends the wait.
static int await(struct book *book)
{
	int status;
	pid_t ended = waitpid(-1, &status, 0);
	if (ended < 0)
		return errno == EINTR ? 0 : -EIO;
	for (uint32_t i = 0; i < book->case_count; i++)
		if (book->cases[i].child == ended && !is_stopped()) {
			int rc = case_end(book, &book->cases[i], status);
			return rc < 0 ? rc : say(book, &book->cases[i]);
		} else if (book->cases[i].child == ended) {
			book->cases[i].child = 0; // stopped with us: it is open
		}
	return 0;
}

static uint32_t under_way(const struct book *book)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < book->case_count; i++)
		count += book->cases[i].child > 0;
	return count;
}

static int begin(struct book *book, struct case_run *run)
{
	int rc = case_prepare(book, run);
	if (rc < 0)
		return rc;
	return run->state == CASE_OPEN ? case_start(book, run) : say(book, run);
}

static int run_all(struct book *book)
{
	uint32_t next = 0;
	struct timespec now;
	int rc = page_write(book);
	clock_gettime(CLOCK_MONOTONIC, &now);
	book->start_s = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
	while (rc == 0 && !is_stopped()) {
		uint32_t running = under_way(book);
		if (next < book->case_count && running < book->at_once &&
		    case_awaited(book, &book->cases[next]) == NULL) {
			rc = begin(book, &book->cases[next++]);
		} else if (running > 0) {
			page_bar(outcome_terminal(), book);
			rc = await(book);
		} else {
			break;
		}
	}
	page_bar_end(outcome_terminal());
	end_children(book);
	book->is_done = rc == 0 && !is_stopped();
	int written = page_write(book);
	return rc < 0 ? rc : written;
}

static int validate(struct book *book)
{
	int rc = choose_cases(book);
	file_watch(manifest_take, &book->inputs);
	if (rc == 0)
		rc = coverage_check(book);
	if (rc == 0)
		rc = read_fabric(book);
	file_watch(NULL, NULL);
	if (rc == 0)
		rc = earlier_check(book);
	if (rc == 0 && book->junit != NULL)
		rc = files_check_output(book->junit, &book->refusal);
	if (rc == 0)
		rc = budget_count(book);
	if (rc == 0)
		rc = make_folders(book);
	signals_catch();
	if (rc == 0) {
		budget_say(stdout, book);
		rc = run_all(book);
	}
	scene_free(&book->scene);
	manifest_rows_free(&book->inputs);
	facts_free(&book->facts);
	if (rc < 0)
		return outcome_refused("validate-fabric", &book->refusal, rc);
	page_end(stdout, book);
	if (is_stopped())
		fputs("weft validate-fabric: interrupted; the same call goes on from here\n",
		      stderr);
	return is_stopped() ? EXIT_NOT_VALID : book_status(book);
}

static void list(FILE *to)
{
	for (const struct book_case *one = book_cases; one->name != NULL; one++)
		fprintf(to, "%-12s %-17s %s%s\n", section_word(one->section), one->name, one->asks,
			one->is_whole ? " (not with --quick)" : "");
}

int main(int argc, char **argv)
{
	static struct book book; // large: kept off the stack
	book.with = "sim";
	book.at_once = 1;
	int rc = command_line_read(&arguments, &book, argc, argv, &book.refusal);
	int status = EXIT_SUCCESS;
	book.name = argv[optind];
	if (rc == 0 && !book.wants_list && book.out == NULL)
		rc = outcome_bad_line(&book.refusal, "no folder given: --out is needed");
	if (rc < 0)
		return outcome_refused("validate-fabric", &book.refusal, rc);
	if (book.wants_list)
		list(stdout);
	else if (rc == 0)
		status = validate(&book);
	return outcome_end("validate-fabric", status);
}
