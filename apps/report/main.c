// SPDX-License-Identifier: Apache-2.0
// weft report: arguments and files. What is said, and how it looks, is in lib/page.

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/files/files.h>
#include <weft/page/report_html.h>

#include "help.h"
#include "weft_version.h"
#include <weft/page/page_assets.h>
#include <weft/run/outcome.h>
#include <weft/run/result_file.h>

enum {
	OPT_PROFILE = 256,
	OPT_OUT,
	OPT_NO_FILES,
	OPT_QUIET,
	OPT_PLAIN,
	OPT_NO_MANIFEST,
	OPT_FORCE,
	OPT_VERSION
};

#define PROFILE_BYTES_MAX ((size_t)1 << 20)
#define HDR_BYTES_MAX ((size_t)1 << 24)
#define FILES_MAX 64
#define PATH_BYTES 4096

static const struct option longs[] = {
	{"profile", required_argument, NULL, OPT_PROFILE},
	{"out", required_argument, NULL, OPT_OUT},
	{"force", no_argument, NULL, OPT_FORCE},
	{"no-files", no_argument, NULL, OPT_NO_FILES},
	{"quiet", no_argument, NULL, OPT_QUIET},
	{"plain", no_argument, NULL, OPT_PLAIN},
	{"no-manifest", no_argument, NULL, OPT_NO_MANIFEST},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

// Everything one call of the program holds.
struct call {
	const char *folder, *profile_name, *out;
	bool is_lone, has_no_files, is_quiet, is_plain, wants_help, wants_version;
	struct profile profile;
	struct verdict verdict;
	struct result_file result;
	struct html_file files[FILES_MAX];
	char names[FILES_MAX][256], *texts[FILES_MAX];
	uint32_t file_count;
	struct refusal refusal;
};

// ---------------------------------------------------------------- arguments

static int take(struct call *call, int option)
{
	switch (option) {
	case OPT_PROFILE:
		return outcome_once(&call->refusal, &call->profile_name, "--profile", optarg);
	case OPT_OUT:
		return outcome_once(&call->refusal, &call->out, "--out", optarg);
	case OPT_FORCE:
		files_force();
		return 0;
	case OPT_NO_FILES:
		call->has_no_files = true;
		return 0;
	case OPT_QUIET:
		call->is_quiet = true;
		return 0;
	case OPT_PLAIN:
		call->is_plain = true;
		return 0;
	case OPT_NO_MANIFEST:
		call->is_lone = true;
		return 0;
	case OPT_VERSION:
		call->wants_version = true;
		return 0;
	default:
		call->wants_help = true;
		return 0;
	}
}

static int check_words(struct call *call, int argc, char **argv)
{
	if (optind == argc)
		return outcome_bad_line(&call->refusal, "no folder given");
	call->folder = argv[optind++];
	if (optind < argc)
		return outcome_bad_word(&call->refusal, "unexpected argument", argv[optind]);
	if (files_are_forced() && call->out == NULL && !call->is_lone)
		return outcome_bad_word(&call->refusal, "needs --out or --no-manifest:", "--force");
	if (call->has_no_files && (call->out != NULL || call->is_plain || call->is_quiet))
		return outcome_bad_word(&call->refusal,
					"--out, --plain and --quiet are of the files that "
					"are not written with",
					"--no-files");
	return 0;
}

static int parse(struct call *call, int argc, char **argv)
{
	int option, rc;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(&call->refusal, "unknown option or missing value:",
						argv[optind - 1]);
		if ((rc = take(call, option)) < 0)
			return rc;
	}
	return call->wants_help || call->wants_version ? 0 : check_words(call, argc, argv);
}

// ---------------------------------------------------------------- files

static int read_verdict(struct call *call)
{
	char path[PATH_BYTES], *text;
	size_t bytes;
	int rc = data_path_find(DATA_PATH_PROFILES, call->profile_name, path, sizeof(path),
				&call->refusal);
	if (rc == 0)
		rc = file_read(path, PROFILE_BYTES_MAX, &text, &bytes, &call->refusal);
	if (rc < 0)
		return rc;
	rc = profile_parse(&call->profile, path, text, bytes, &call->refusal);
	free(text);
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
		return refuse(&call->refusal, -errno, "the folder of the result cannot be read", 0,
			      0, 0);
	for (int i = 0; i < count; i++) {
		if (rc == 0 && call->file_count < FILES_MAX)
			rc = read_histogram(call, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return rc;
}

static int page_of(FILE *to, const struct sheet *sheet, const struct html_input *input)
{
	return html_write(to, sheet, input);
}

static int metrics_of(FILE *to, const struct sheet *sheet, const struct html_input *input)
{
	(void)input;
	return sheet_metrics(to, sheet);
}

static int csv_of(FILE *to, const struct sheet *sheet, const struct html_input *input)
{
	(void)input;
	return sheet_csv(to, sheet);
}

// What is written, and by whom.
static const struct output {
	const char *name;
	int (*write)(FILE *to, const struct sheet *sheet, const struct html_input *input);
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
static size_t output_count(const struct sheet *sheet)
{
	return sheet_is_result(sheet) ? OUTPUT_COUNT : 1;
}

// In its own folder the page of a result is kept up to date; a file that was taken out of its
// folder lies among others.
static bool is_own_folder(const struct call *call)
{
	return call->out == NULL && !call->is_lone;
}

// Before anything is printed.
static int check_files(struct call *call, const struct sheet *sheet)
{
	char path[PATH_BYTES];
	int rc = 0;
	for (size_t i = 0; !is_own_folder(call) && i < output_count(sheet) && rc == 0; i++) {
		output_path(path, call, i);
		rc = files_check_output(path, &call->refusal);
	}
	return rc;
}

// All are whole before the first gets its name.
static int write_files(struct call *call, const struct sheet *sheet, const struct html_input *input)
{
	static struct draft drafts[OUTPUT_COUNT];
	static char paths[OUTPUT_COUNT][PATH_BYTES];
	size_t begun = 0, count = output_count(sheet);
	int rc = 0, ended;
	for (; begun < count && rc == 0; begun++) {
		output_path(paths[begun], call, begun);
		rc = (is_own_folder(call) ? draft_renew : draft_begin)(&drafts[begun], paths[begun],
								       &call->refusal);
		if (rc < 0)
			break;
		rc = outputs[begun].write(drafts[begun].to, sheet, input);
		if (rc == 0 && fflush(drafts[begun].to) != 0)
			rc = -EIO;
		if (rc < 0)
			file_unwritten(&call->refusal, paths[begun], errno);
	}
	for (size_t i = 0; i < begun; i++) {
		struct refusal why = {0};
		ended = draft_end(&drafts[i], rc, &why);
		if (rc == 0 && ended < 0)
			call->refusal = why;
		rc = rc < 0 ? rc : ended;
		if (rc == 0 && !call->is_quiet)
			printf("%s  %s\n", i == 0 ? "\nFiles\n" : "", paths[i]);
	}
	return rc;
}

// ---------------------------------------------------------------- the call

static int make(struct call *call)
{
	struct html_input input = {
		.result = call->result.result,
		.files = call->files,
		.file_count = call->file_count,
		.style = page_style,
		.script = page_script,
		.charts = call->is_plain ? NULL : page_charts,
		.version = WEFT_VERSION_TEXT,
	};
	struct sheet *sheet;
	if (call->profile_name != NULL) {
		input.profile = &call->profile;
		input.verdict = &call->verdict;
	}
	int rc = sheet_create(&sheet, &input, &call->refusal);
	if (rc < 0)
		return rc;
	if (call->profile_name != NULL && !sheet_takes_profile(sheet)) {
		sheet_free(sheet);
		return outcome_bad_word(&call->refusal,
					"a book has a profile for each of its cases; it takes no",
					"--profile");
	}
	if (!call->has_no_files)
		rc = check_files(call, sheet);
	if (rc == 0 && !call->is_quiet)
		rc = sheet_show(stdout, sheet);
	if (rc == 0 && !call->has_no_files)
		rc = write_files(call, sheet, &input);
	sheet_free(sheet);
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
		rc = make(call);
	for (uint32_t i = 0; i < call->file_count; i++)
		free(call->texts[i]);
	result_file_free(&call->result);
	if (rc < 0)
		return outcome_refused("report", &call->refusal, rc);
	return call->profile_name != NULL ? statuses[call->verdict.end] : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("report", &call.refusal, rc);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else
		status = show(&call);
	return outcome_end("report", status);
}
