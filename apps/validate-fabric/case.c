// SPDX-License-Identifier: Apache-2.0
// A case as files in a folder of its own: scenario.yaml, profile.yaml, job.goal, and what its run
// leaves. A case is kept when these say the same as an earlier call's, and that one's run ended.

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include <weft/files/files.h>

#include "acceptance.h"
#include "weft_version.h"
#include <weft/files/clock.h>
#include <weft/run/outcome.h>
#include <weft/run/result_file.h>

#define TEXT_BYTES_MAX ((size_t)64 << 20)
#define WORDS_MAX (2 * 2 * ACCEPTANCE_WORDS_MAX + 16)

const char *case_home(const struct case_run *run)
{
	return run->shares != NULL ? run->shares->of->name : run->of->name;
}

static void path_of(char ret[ACCEPTANCE_PATH_BYTES], const struct acceptance *acceptance,
		    const struct case_run *run, const char *file)
{
	snprintf(ret, ACCEPTANCE_PATH_BYTES, "%s/cases/%s/%s", acceptance->out, case_home(run),
		 file);
}

// ---------------------------------------------------------------- files

static bool is_same(const char *path, const char *text)
{
	char *there;
	size_t bytes;
	struct refusal ignored;
	if (access(path, F_OK) != 0 ||
	    file_read_back(path, TEXT_BYTES_MAX, &there, &bytes, &ignored) < 0)
		return false;
	bool same = strcmp(there, text) == 0;
	free(there);
	return same;
}

static int put_text(const char *path, const char *text, struct refusal *refusal)
{
	struct atomic_file atomic_file;
	int rc = atomic_file_renew(&atomic_file, path, refusal);
	if (rc < 0)
		return rc;
	return atomic_file_end(&atomic_file, fputs(text, atomic_file.to) >= 0 ? 0 : -EIO, refusal);
}

// What a case is, in texts; each NULL or the caller's to free.
struct files {
	char *own, *fabric_file, *checks, *profile, *goal;
};

static void files_free(struct files *files)
{
	free(files->own);
	free(files->fabric_file);
	free(files->checks);
	free(files->profile);
	free(files->goal);
}

static int open_all(struct case_text *to, struct files *files, size_t bytes[3])
{
	to->fabric_file = open_memstream(&files->own, &bytes[0]);
	to->checks = open_memstream(&files->checks, &bytes[1]);
	to->goal = open_memstream(&files->goal, &bytes[2]);
	return to->fabric_file != NULL && to->checks != NULL && to->goal != NULL ? 0 : -ENOMEM;
}

static void put_command(FILE *to, const struct acceptance *acceptance)
{
	fprintf(to, "# %s\n# weft %s scenario.yaml", WEFT_VERSION_TEXT, acceptance->with);
	if (acceptance->ports != NULL)
		fprintf(to, " --ports %s", acceptance->ports);
	for (uint32_t i = 0; i < acceptance->set_count; i++)
		fprintf(to, " --set '%s'", acceptance->sets[i]);
	for (uint32_t i = 0; i < acceptance->fault_count; i++)
		fprintf(to, " --fault '%s'", acceptance->faults[i]);
	fprintf(to, "\n");
}

static int put_profile(struct files *files, const struct acceptance_case *of)
{
	size_t bytes;
	FILE *to = open_memstream(&files->profile, &bytes);
	if (to == NULL)
		return -ENOMEM;
	fprintf(to,
		"name: %s\ndescription: \"%s\"\nchecks:\n"
		"  - {name: run complete, metric: run.end, bound: is done, source: \"a partial run "
		"proves nothing\"}\n"
		"  - {name: every packet accounted for, metric: conservation.holds, bound: is "
		"true, "
		"source: \"a law of the simulation\"}\n"
		"  - {name: no connection lost, metric: transport.qps_failed, bound: is 0, source: "
		"\"a job dies with its QP\"}\n%s",
		of->name, of->asks, files->checks);
	return fclose(to) == 0 ? 0 : -ENOMEM;
}

// Texts of a case. A reason in run->reason when it is not asked.
static int write_texts(struct acceptance *acceptance, struct case_run *run, struct files *files)
{
	size_t bytes[3], header_bytes;
	char *merged = NULL;
	struct case_text to = {0};
	int rc = open_all(&to, files, bytes);
	if (rc < 0)
		return rc;
	fprintf(to.fabric_file, "name: %s\ndescription: \"%s\"\n", run->of->name, run->of->asks);
	const char *reason = run->of->write(run->of, &acceptance->fabric_facts, &to);
	if (reason == NULL)
		reason = budget_reason(&acceptance->fabric_facts, &to);
	if (acceptance->fabric_facts.nics <=
	    SCENARIO_FLOWS_MAX) // of many they take memory and time
		fprintf(to.fabric_file, "watch: {delays: true}\n");
	fprintf(to.fabric_file, "limits: {hops: %.0f", cost_hops_given_up(&to.cost));
	if (to.limit_ps > 0)
		fprintf(to.fabric_file, ", time: %lldns", (long long)(to.limit_ps / PS_PER_NS));
	fprintf(to.fabric_file, "}\n");
	bool is_whole = fclose(to.fabric_file) == 0;
	is_whole = fclose(to.checks) == 0 && is_whole;
	is_whole = fclose(to.goal) == 0 && is_whole;
	if (!is_whole)
		return -ENOMEM;
	run->bus_bytes = to.bus_bytes;
	run->limit_ps = to.limit_ps;
	run->asked = to.asked;
	run->cost = to.cost;
	run->carried = to.carried;
	if (reason != NULL) {
		run->state = to.is_left_out ? CASE_LEFT_OUT : CASE_NOT_ASKED;
		snprintf(run->reason, sizeof(run->reason), "%s", reason);
		return 0;
	}
	rc = fabric_file_merge(&acceptance->fabric_file, files->own, &merged, &acceptance->refusal);
	FILE *fabric_file = rc < 0 ? NULL : open_memstream(&files->fabric_file, &header_bytes);
	if (rc == 0 && fabric_file == NULL)
		rc = -ENOMEM;
	if (rc == 0) {
		put_command(fabric_file, acceptance);
		fputs(merged, fabric_file);
		rc = fclose(fabric_file) == 0 ? 0 : -ENOMEM;
	}
	free(merged);
	return rc == 0 && run->of->profile == NULL ? put_profile(files, run->of) : rc;
}

// Whether a folder holds these files already.
static bool is_as_it_was(const struct acceptance *acceptance, const struct case_run *run,
			 const struct files *files)
{
	char path[ACCEPTANCE_PATH_BYTES];
	path_of(path, acceptance, run, "scenario.yaml");
	bool same = is_same(path, files->fabric_file);
	path_of(path, acceptance, run, "job.goal");
	same = same && (files->goal[0] == '\0' || is_same(path, files->goal));
	path_of(path, acceptance, run, "profile.yaml");
	same = same && (files->profile == NULL || is_same(path, files->profile));
	path_of(path, acceptance, run, "run/result.json");
	return same && access(path, F_OK) == 0;
}

// What an earlier run left, whole or not: another case's, or one that was killed as it wrote. It
// must not be taken for this one's, and weft sim writes into no folder of others.
static void clear_run(const struct acceptance *acceptance, const struct case_run *run)
{
	char path[ACCEPTANCE_PATH_BYTES];
	path_of(path, acceptance, run, "run");
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
		unlinkat(dirfd(folder), entry->d_name, 0); // "." and ".." stay
	if (folder != NULL)
		closedir(folder);
}

static int put_files(const struct acceptance *acceptance, const struct case_run *run,
		     const struct files *files, struct refusal *refusal)
{
	char path[ACCEPTANCE_PATH_BYTES];
	clear_run(acceptance, run);
	path_of(path, acceptance, run, "");
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return put_text(path, "", refusal);
	path_of(path, acceptance, run, "job.goal");
	int rc = files->goal[0] == '\0' ? 0 : put_text(path, files->goal, refusal);
	path_of(path, acceptance, run, "profile.yaml");
	if (rc == 0 && files->profile != NULL)
		rc = put_text(path, files->profile, refusal);
	path_of(path, acceptance, run, "scenario.yaml");
	return rc == 0 ? put_text(path, files->fabric_file, refusal) : rc;
}

static int read_profile(struct acceptance *acceptance, struct case_run *run,
			const struct files *files)
{
	char path[ACCEPTANCE_PATH_BYTES];
	if (run->of->profile != NULL)
		return profile_read(&run->profile, run->of->profile, &acceptance->refusal);
	path_of(path, acceptance, run, "profile.yaml");
	return profile_parse(&run->profile, path, files->profile,
			     files->profile == NULL ? 0 : strlen(files->profile),
			     &acceptance->refusal);
}

static int take_result(struct acceptance *acceptance, struct case_run *run);

static struct case_run *other_of(const struct acceptance *acceptance, const struct case_run *run)
{
	for (uint32_t i = 0; run->of->run_of != NULL && i < acceptance->case_count; i++)
		if (strcmp(acceptance->cases[i].of->name, run->of->run_of) == 0)
			return (struct case_run *)&acceptance->cases[i];
	return NULL;
}

const struct case_run *case_awaited(const struct acceptance *acceptance, const struct case_run *run)
{
	const struct case_run *other = other_of(acceptance, run);
	return other != NULL && other->child > 0 ? other : NULL;
}

// Where another case of the book has run the same traffic its result is this one's, too.
static int take_shared(struct acceptance *acceptance, struct case_run *run)
{
	const struct case_run *other = other_of(acceptance, run);
	if (other == NULL || (other->state != CASE_PASS && other->state != CASE_FAIL))
		return 0;
	run->shares = other;
	run->is_kept = other->is_kept;
	return take_result(acceptance, run);
}

int case_prepare(struct acceptance *acceptance, struct case_run *run)
{
	struct files files = {0};
	int rc = write_texts(acceptance, run, &files);
	if (rc < 0 || run->state != CASE_OPEN) {
		files_free(&files);
		return rc;
	}
	rc = read_profile(acceptance, run, &files);
	if (rc == 0)
		rc = take_shared(acceptance, run);
	if (rc < 0 || run->state != CASE_OPEN) {
		files_free(&files);
		return rc;
	}
	if (is_as_it_was(acceptance, run, &files)) {
		run->is_kept = true;
		rc = take_result(acceptance, run);
		if (rc < 0 ||
		    (run->verdict.is_partial &&
		     run->state != CASE_FAIL)) { // it was ended on its way: once more
			run->is_kept = false;
			run->state = CASE_OPEN;
			rc = 0;
		}
	}
	if (rc == 0 && run->state == CASE_OPEN)
		rc = put_files(acceptance, run, &files, &acceptance->refusal);
	files_free(&files);
	return rc;
}

// ---------------------------------------------------------------- run

int case_start(struct acceptance *acceptance, struct case_run *run)
{
	char fabric_file[ACCEPTANCE_PATH_BYTES], out[ACCEPTANCE_PATH_BYTES],
		log[ACCEPTANCE_PATH_BYTES];
	const char *words[WORDS_MAX];
	uint32_t count = 1; // the program's name comes first
	path_of(fabric_file, acceptance, run, "scenario.yaml");
	path_of(out, acceptance, run, "run");
	path_of(log, acceptance, run, "log.txt");
	words[count++] = fabric_file;
	for (uint32_t i = 0; i < acceptance->set_count; i++) {
		words[count++] = "--set";
		words[count++] = acceptance->sets[i];
	}
	for (uint32_t i = 0; i < acceptance->fault_count; i++) {
		words[count++] = "--fault";
		words[count++] = acceptance->faults[i];
	}
	words[count++] = "--out";
	words[count++] = out;
	if (strcmp(acceptance->with, "emu") == 0) {
		words[count++] = "--ports";
		words[count++] = acceptance->ports != NULL ? acceptance->ports
			: acceptance->fabric_facts.has_pfc ? "none" // pauses have no bytes
							   : "memory";
		words[count++] = "--dilation";
		words[count++] = "auto";
	}
	words[count] = NULL;
	run->start_s = clock_s(CLOCK_MONOTONIC);
	return child_start(&run->child, acceptance->with, words, log, &acceptance->refusal);
}

// ---------------------------------------------------------------- result

static double number_at(json_t *at, const char *object, const char *field)
{
	json_t *value = json_object_get(object == NULL ? at : json_object_get(at, object), field);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

// Goodput of the last window that the case has an expectation for; without one `whole`, that of
// the run.
static double steady_or(json_t *expect, double whole)
{
	size_t count = json_array_size(expect);
	double steady = count == 0 ? NAN
				   : number_at(json_array_get(expect, count - 1), NULL, "measured");
	return isnan(steady) ? whole : steady;
}

// Which windows are outside of what is expected.
static void read_windows(char *ret, size_t bytes, json_t *expect)
{
	size_t i, used = 0;
	json_t *one;
	ret[0] = '\0';
	json_array_foreach(expect, i, one)
	{
		if (json_is_true(json_object_get(one, "inside")) || used + 80 > bytes)
			continue;
		double expected = number_at(one, NULL, "expected") / 1e9;
		used += (size_t)snprintf(
			ret + used, bytes - used, "%s%.31s: %.4g Gb/s, at least %.4g of %.4g",
			used > 0 ? ", " : "", json_string_value(json_object_get(one, "name")),
			number_at(one, NULL, "measured") / 1e9,
			expected * (1 - number_at(one, NULL, "tolerance")), expected);
	}
}

// Who stands out first (culprits of result.json). `faults` are those of the book: what a case
// breaks itself is no news.
static void read_culprit(char *ret, size_t bytes, json_t *result, uint32_t faults)
{
	json_t *list = json_object_get(json_object_get(result, "culprits"), "list");
	json_t *first = json_array_get(list, 0);
	ret[0] = '\0';
	if (first == NULL || json_array_size(json_object_get(result, "faults")) > faults)
		return;
	snprintf(ret, bytes, "%s (%s): %s", json_string_value(json_object_get(first, "name")),
		 json_string_value(json_object_get(first, "finding")),
		 json_string_value(json_object_get(first, "evidence")));
}

static void read_figures(struct case_figures *ret, json_t *result, uint32_t faults)
{
	json_t *expect = json_object_get(result, "expect");
	json_t *job = json_array_get(json_object_get(result, "jobs"), 0);
	const char *digest = json_string_value(
		json_object_get(json_object_get(result, "run"), "digest"));
	*ret = (struct case_figures){
		.goodput_bps = steady_or(expect, number_at(result, "goodput", "per_nic_bps")),
		.nic_rate_bps = number_at(result, "network", "nic_rate_bps"),
		.fct_p50_s = number_at(result, "flows", "p50_ns") * 1e-9,
		.fct_p99_s = number_at(result, "flows", "p99_ns") * 1e-9,
		.job_s = number_at(job, NULL, "time_ps") * 1e-12,
		.marked = number_at(result, "congestion", "marked_share"),
		.trimmed = number_at(result, "congestion", "trimmed_share"),
		.resent = number_at(result, "congestion", "retransmitted_share"),
		.queue_bytes = number_at(result, "congestion", "queue_bytes_max"),
		.answers_dropped = number_at(result, "transport", "answers_dropped"),
		.wall_s = number_at(result, "speed", "wall_s"),
		.hops = number_at(result, "speed", "hops"),
	};
	measures_read(ret->more, result);
	if (!measures_samples(&ret->samples, result))
		ret->samples.count = 0;
	read_windows(ret->windows, sizeof(ret->windows), expect);
	read_culprit(ret->culprit, sizeof(ret->culprit), result, faults);
	snprintf(ret->digest, sizeof(ret->digest), "%s", digest == NULL ? "" : digest);
}

// Traffic that is not through when it was given up has failed: it took many times what it takes.
static void read_limit(struct case_run *run, json_t *result)
{
	json_t *part = json_object_get(result, "run");
	const char *end = json_string_value(json_object_get(part, "end"));
	const char *option = json_string_value(json_object_get(part, "limit_option"));
	bool has_most = run->figures.hops >= cost_hops_given_up(&run->cost); // --set may say less
	if (option != NULL && strcmp(option, "limits.hops") == 0 && has_most) {
		run->state = CASE_FAIL;
		snprintf(run->reason, sizeof(run->reason),
			 "it was given up after %.3g million packet-hops, where its traffic takes "
			 "%.3g: %.3g %% of its packets were retransmitted",
			 run->figures.hops / 1e6, run->cost.hops / 1e6, run->figures.resent * 100);
		return;
	}
	if (run->limit_ps == 0 || end == NULL || strcmp(end, "time limit") != 0)
		return;
	run->state = CASE_FAIL;
	snprintf(run->reason, sizeof(run->reason),
		 "it was given up after %.4g ms, many times what its traffic takes on free lines",
		 (double)run->limit_ps / (double)PS_PER_MS);
}

static void read_deadlock(struct case_run *run, json_t *result)
{
	json_t *deadlock = json_object_get(json_object_get(result, "pfc"), "deadlock");
	double ports = number_at(deadlock, NULL, "ports");
	size_t used = strlen(run->reason);
	if (run->state == CASE_FAIL && ports > 0)
		snprintf(run->reason + used, sizeof(run->reason) - used,
			 "%s%.0f ports pause each other in a ring: a deadlock",
			 used > 0 ? "; " : "", ports);
}

static int take_result(struct acceptance *acceptance, struct case_run *run)
{
	static const enum case_state states[] = {CASE_PASS, CASE_FAIL, CASE_NOT_VALID};
	char path[ACCEPTANCE_PATH_BYTES];
	struct result_file file;
	path_of(path, acceptance, run, "run");
	int rc = result_file_read(&file, path, false, &acceptance->refusal);
	if (rc == 0)
		rc = earlier_check_run(acceptance, case_home(run), &file.manifest);
	if (rc == 0)
		rc = verdict_of(&run->verdict, &run->profile, file.result, NULL,
				&acceptance->refusal);
	if (rc == 0) {
		json_t *result = (json_t *)result_fields(file.result);
		read_figures(&run->figures, result, acceptance->scenario.fault_count);
		run->figures.busbw_bps = run->bus_bytes > 0
			? 8 * run->bus_bytes / run->figures.job_s
			: NAN;
		run->state = states[run->verdict.end];
		read_limit(run, result);
		read_deadlock(run, result);
	}
	result_file_free(&file);
	return rc;
}

// What weft itself said when it refused a case.
static void read_reason(const struct acceptance *acceptance, struct case_run *run)
{
	char path[ACCEPTANCE_PATH_BYTES], line[1024];
	path_of(path, acceptance, run, "log.txt");
	FILE *log = fopen(path, "r");
	snprintf(run->reason, sizeof(run->reason), "it left no result");
	while (log != NULL && fgets(line, sizeof(line), log) != NULL) {
		line[strcspn(line, "\r\n")] = '\0';
		if (strncmp(line, "weft ", 5) == 0 || strncmp(line, "weft:", 5) == 0)
			snprintf(run->reason, sizeof(run->reason), "%.199s", line);
	}
	if (log != NULL)
		fclose(log);
}

int case_end(struct acceptance *acceptance, struct case_run *run, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	run->child = 0;
	if (code == EXIT_SUCCESS || code == EXIT_MISSED || code == EXIT_NOT_VALID)
		return take_result(acceptance, run);
	run->state = CASE_NOT_VALID;
	read_reason(acceptance, run);
	if (code == EXIT_BAD_INPUT && strstr(run->reason, "has no effect here") != NULL)
		run->state = CASE_NOT_ASKED; // a fault of the command line that other traffic feels
	if (strstr(run->reason, "raise limits.memory") != NULL)
		run->state = CASE_LEFT_OUT; // the estimate was too low
	if (code < 0)
		snprintf(run->reason, sizeof(run->reason), "it was ended by signal %d",
			 WTERMSIG(status));
	return 0;
}
