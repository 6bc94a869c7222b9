// SPDX-License-Identifier: Apache-2.0
// weft report: arguments and files. What is said, and how it looks, is in lib/page.

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/files/files.h>
#include <weft/page/report_html.h>

#include "help.h"
#include "weft-report_options.h"
#include "weft_version.h"
#include <weft/page/page_assets.h>
#include <weft/result/brief_line.h>
#include <weft/result/report_escape.h>
#include <weft/run/host_info.h>
#include <weft/run/outcome.h>
#include <weft/run/result_file.h>

#define HDR_BYTES_MAX ((size_t)1 << 24)
#define CABLES_BYTES_MAX ((size_t)1 << 30)
#define FILES_MAX 64
#define PATH_BYTES 4096

// Everything one call of the program holds.
struct call {
	const char *folder, *profile_name, *out;
	bool is_lone, has_no_files, is_quiet, is_plain, is_verbose;
	struct profile profile;
	struct verdict verdict;
	struct result_file result;
	struct example example;
	struct html_file files[FILES_MAX];
	char names[FILES_MAX][256], *texts[FILES_MAX], *cables;
	uint32_t file_count;
	struct refusal refusal;
};

static const struct option_row option_rows[] = {REPORT_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "folder", .least = 1, .most = 1};

// ---------------------------------------------------------------- files

static int read_verdict(struct call *call)
{
	int rc = profile_read(&call->profile, call->profile_name, &call->refusal);
	return rc < 0 ? rc
		      : verdict_of(&call->verdict, &call->profile, call->result.result, NULL,
				   &call->refusal);
}

static int is_histogram(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);
	return length > 4 && entry->d_name[0] != '.' &&
		strcmp(entry->d_name + length - 4, ".hdr") == 0;
}

static int read_histogram(struct call *call, const char *name)
{
	char path[PATH_BYTES];
	size_t bytes;
	uint32_t at = call->file_count;
	int rc = result_file_beside(&call->result, name, HDR_BYTES_MAX, path, &call->texts[at],
				    &bytes, &call->refusal);
	if (rc < 0)
		return rc;
	snprintf(call->names[at], sizeof(call->names[at]), "%s", name);
	call->files[at] = (struct html_file){call->names[at], call->texts[at], bytes};
	call->file_count++;
	return 0;
}

// The histograms beside result.json.
static int read_histograms(struct call *call)
{
	struct dirent **names;
	if (result_kind(call->result.result) != RESULT_RUN)
		return 0;
	int count = scandir(call->result.folder, &names, is_histogram, alphasort), rc = 0;
	if (count < 0)
		return refuse(&call->refusal, -errno, "the folder of the result cannot be read");
	for (int i = 0; i < count; i++) {
		if (rc == 0 && call->file_count < FILES_MAX)
			rc = read_histogram(call, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return rc;
}

// What each cable carried, where the run counted it.
static int read_cables(struct call *call)
{
	char path[PATH_BYTES];
	size_t bytes;
	snprintf(path, sizeof(path), "%.4000s/cables.csv", call->result.folder);
	if (result_kind(call->result.result) != RESULT_RUN || access(path, R_OK) != 0)
		return 0;
	return result_file_beside(&call->result, "cables.csv", CABLES_BYTES_MAX, path,
				  &call->cables, &bytes, &call->refusal);
}

static int page_of(FILE *to, const struct report_model *report_model,
		   const struct html_input *input)
{
	return html_write(to, report_model, input);
}

static int metrics_of(FILE *to, const struct report_model *report_model,
		      const struct html_input *input)
{
	(void)input;
	return report_model_metrics(to, report_model);
}

static int csv_of(FILE *to, const struct report_model *report_model, const struct html_input *input)
{
	(void)input;
	return report_model_csv(to, report_model);
}

// What is written, and by whom.
static const struct output {
	const char *name;
	int (*write)(FILE *to, const struct report_model *report_model,
		     const struct html_input *input);
} outputs[] = {{"report.html", page_of}, {"metrics.txt", metrics_of}, {"result.csv", csv_of}};

#define OUTPUT_COUNT (sizeof(outputs) / sizeof(*outputs))

// Where output `index` goes: --out, or the folder of the result.
static void output_path(char ret[PATH_BYTES], const struct call *call, size_t index)
{
	const char *path = call->result.path, *slash = strrchr(path, '/');
	if (call->out != NULL)
		snprintf(ret, PATH_BYTES, "%.3900s/%s", call->out, outputs[index].name);
	else
		snprintf(ret, PATH_BYTES, "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - path),
			 path, outputs[index].name);
}

// Of many runs there is the page alone: a study has tables of its own.
static size_t output_count(const struct report_model *report_model)
{
	return report_model_is_result(report_model) ? OUTPUT_COUNT : 1;
}

// In its own folder the page of a result is kept up to date; a file that was taken out of its
// folder lies among others.
static bool is_own_folder(const struct call *call)
{
	return call->out == NULL && !call->is_lone;
}

// Before anything is printed. The folder of --out is made; where it cannot be, the first file says
// why.
static int check_files(struct call *call, const struct report_model *report_model)
{
	char path[PATH_BYTES];
	int rc = 0;
	if (call->out != NULL)
		mkdir(call->out, 0777);
	for (size_t i = 0; !is_own_folder(call) && i < output_count(report_model) && rc == 0; i++) {
		output_path(path, call, i);
		rc = files_check_output(path, &call->refusal);
	}
	return rc;
}

// The short form's row of what was written.
static void files_row(char paths[OUTPUT_COUNT][PATH_BYTES], size_t count)
{
	struct brief_line line = {.to = stdout, .style = style_of(STDOUT_FILENO)};
	brief_begin(&line, "files");
	for (size_t i = 0; i < count; i++)
		brief_add(&line, BRIEF_PLAIN, 0, "%.400s", paths[i]);
	brief_end(&line);
}

static void next_row(const struct call *call)
{
	struct brief_line line = {.to = stdout, .style = style_of(STDOUT_FILENO)};
	char folder[401];
	escape_shell(folder, sizeof(folder), call->folder);
	brief_begin(&line, "next");
	brief_add(&line, BRIEF_TYPE, 0, "weft report %s -v", folder);
	brief_add(&line, BRIEF_PLAIN, 0, "for all tables");
	brief_end(&line);
}

// All are whole before the first gets its name.
static int write_files(struct call *call, const struct report_model *report_model,
		       const struct html_input *input)
{
	static struct atomic_file atomic_files[OUTPUT_COUNT];
	static char paths[OUTPUT_COUNT][PATH_BYTES];
	size_t begun = 0, count = output_count(report_model);
	int rc = 0, ended;
	for (; begun < count && rc == 0; begun++) {
		output_path(paths[begun], call, begun);
		rc = (is_own_folder(call) ? atomic_file_renew : atomic_file_begin)(
			&atomic_files[begun], paths[begun], &call->refusal);
		if (rc < 0)
			break;
		rc = outputs[begun].write(atomic_files[begun].to, report_model, input);
		if (rc == 0 && fflush(atomic_files[begun].to) != 0)
			rc = -EIO;
		if (rc < 0)
			file_unwritten(&call->refusal, paths[begun], errno);
	}
	for (size_t i = 0; i < begun; i++) {
		struct refusal why = {0};
		ended = atomic_file_end(&atomic_files[i], rc, &why);
		if (rc == 0 && ended < 0)
			call->refusal = why;
		rc = rc < 0 ? rc : ended;
		if (rc == 0 && call->is_verbose)
			printf("%s  %s\n", i == 0 ? "\nFiles\n" : "", paths[i]);
	}
	if (rc == 0 && !call->is_verbose && !call->is_quiet)
		files_row(paths, count);
	return rc;
}

// ---------------------------------------------------------------- the call

static int make(struct call *call)
{
	char path[256];
	struct html_input input = {
		.result = call->result.result,
		.files = call->files,
		.file_count = call->file_count,
		.cables = call->cables,
		.style = page_style,
		.script = page_script,
		.charts = call->is_plain ? NULL : page_charts,
		.version = WEFT_VERSION_TEXT,
	};
	struct report_model *report_model;
	report_model_example(path, sizeof(path), call->result.result);
	if (*path != '\0' && !call->is_lone) {
		example_read(&call->example, call->result.folder, path);
		input.cables = call->example.cables;
		input.example = input.cables != NULL ? call->example.file.result : NULL;
	}
	if (call->profile_name != NULL) {
		input.profile = &call->profile;
		input.verdict = &call->verdict;
	}
	int rc = report_model_create(&report_model, &input, &call->refusal);
	if (rc < 0)
		return rc;
	if (call->profile_name != NULL && !report_model_takes_profile(report_model)) {
		report_model_free(report_model);
		return outcome_bad_word(
			&call->refusal,
			"weft validate-fabric gave each case its profile; its report takes no",
			"--profile");
	}
	if (!call->has_no_files)
		rc = check_files(call, report_model);
	if (rc == 0 && !call->is_quiet)
		rc = call->is_verbose
			? report_model_show(stdout, report_model)
			: report_model_brief(stdout, report_model, style_of(STDOUT_FILENO));
	if (rc == 0 && !call->has_no_files)
		rc = write_files(call, report_model, &input);
	if (rc == 0 && !call->is_quiet && !call->is_verbose)
		next_row(call);
	report_model_free(report_model);
	return rc;
}

static int show(struct call *call)
{
	static const int statuses[] = {EXIT_SUCCESS, EXIT_MISSED, EXIT_NOT_VALID};
	int rc = result_file_read(&call->result, call->folder, call->is_lone, &call->refusal);
	if (rc == 0 && call->profile_name != NULL)
		rc = read_verdict(call);
	if (rc == 0)
		rc = read_histograms(call);
	if (rc == 0)
		rc = read_cables(call);
	if (rc == 0)
		rc = make(call);
	for (uint32_t i = 0; i < call->file_count; i++)
		free(call->texts[i]);
	free(call->cables);
	example_free(&call->example);
	result_file_free(&call->result);
	if (rc < 0)
		return outcome_refused("report", &call->refusal, rc);
	return call->profile_name != NULL ? statuses[call->verdict.end] : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal),
	    status = EXIT_SUCCESS;
	call.folder = argv[optind];
	if (rc < 0)
		return outcome_refused("report", &call.refusal, rc);
	if (rc == 0)
		status = show(&call);
	return outcome_end("report", status);
}
