// SPDX-License-Identifier: Apache-2.0
// weft tune report: a study as one page. What it says is in room tune, how it looks in room page.

#include "call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/page/page_assets.h>
#include <weft/page/report_html.h>
#include <weft/result/put.h>
#include <weft/tune/report.h>

#include "weft_version.h"

#define PLAIN_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=.,:/+@%-"

// The words of the study as a shell takes them.
static int put_command(json_t *document, struct call *call)
{
	char *words, *rest, *text = NULL;
	size_t bytes = 0;
	int rc = tune_store_fact(call->store, "command", &words, &call->refusal);
	FILE *to = rc == 0 ? open_memstream(&text, &bytes) : NULL;
	if (rc == 0 && to == NULL)
		rc = refuse(&call->refusal, -ENODEV, "not enough memory for words");
	if (rc < 0)
		return rc;
	fputs("weft tune", to);
	for (char *word = strtok_r(words, "\n", &rest); word != NULL;
	     word = strtok_r(NULL, "\n", &rest)) {
		bool is_plain = strspn(word, PLAIN_LETTERS) == strlen(word);
		fprintf(to, is_plain ? " %s" : " '%s'", word);
	}
	free(words);
	if (fclose(to) == 0)
		put_text(document, "command", text);
	else
		rc = refuse(&call->refusal, -ENODEV, "not enough memory for words");
	free(text);
	if (rc == 0)
		rc = tune_store_fact(call->store, "version", &text, &call->refusal);
	if (rc == 0)
		put_text(document, "weft", text);
	free(text);
	return rc;
}

// "incast.html" of "incast.tune".
static void name_page(const struct call *call, char ret[SCENARIO_PATH_BYTES + 8])
{
	const char *study = call->options.study, *dot = strrchr(study, '.');
	int length = dot != NULL && strcmp(dot, ".tune") == 0 ? (int)(dot - study)
							      : (int)strlen(study);
	if (call->options.page != NULL)
		snprintf(ret, SCENARIO_PATH_BYTES + 8, "%s", call->options.page);
	else
		snprintf(ret, SCENARIO_PATH_BYTES + 8, "%.*s.html", length, study);
}

static int write_page(struct call *call, const struct report_model *report_model)
{
	char path[SCENARIO_PATH_BYTES + 8];
	struct atomic_file atomic_file;
	const struct html_input input = {.style = page_style,
					 .script = page_script,
					 .charts = page_charts,
					 .version = WEFT_VERSION_TEXT};
	name_page(call, path);
	int rc = files_check_output(path, &call->refusal);
	if (rc == 0)
		rc = atomic_file_begin(&atomic_file, path, &call->refusal);
	if (rc < 0)
		return rc;
	rc = html_write(atomic_file.to, report_model, &input);
	if (rc < 0)
		file_unwritten(&call->refusal, path, errno);
	rc = atomic_file_end(&atomic_file, rc, &call->refusal);
	if (rc == 0 && !call->options.is_quiet)
		printf("%s\n", path);
	return rc;
}

int study_report(struct call *call)
{
	const struct tune_curves curves = {
		.points = call->options.curves, .runs = tune_pool_runs, .runs_context = call->pool};
	struct report_model *report_model = NULL;
	json_t *document;
	int rc = tune_report_of(&document, call->tune, &curves, &call->refusal);
	if (rc < 0)
		return rc;
	rc = put_command(document, call);
	if (rc == 0 && call->options.is_json) {
		rc = json_dumpf(document, stdout, JSON_INDENT(2)) < 0 ? -EIO : 0;
		putchar('\n');
	} else if (rc == 0) {
		rc = report_model_create_tune(&report_model, document, &call->refusal);
		if (rc == 0)
			rc = write_page(call, report_model);
		report_model_free(report_model);
	}
	json_decref(document);
	return rc;
}
