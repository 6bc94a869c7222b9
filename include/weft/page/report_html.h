// SPDX-License-Identifier: Apache-2.0
// A result as a report: one page that needs nothing beside itself, or the same facts as text. It is
// made of the files of a result alone, so that any result can be reported at any time.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/core/refusal.h>
#include <weft/result/report.h>
#include <weft/verdict/report_verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

// A file beside result.json: its name, and its text, which ends with a NUL.
struct html_file {
	const char *name;
	const char *text;
	size_t bytes;
};

struct html_input {
	const struct result *result;
	const struct html_file *files; // histograms (*.hdr)
	uint32_t file_count;
	const char *cables;	       // cables.csv as text, of a book that of its example; or NULL
	const struct result *example;  // of a book: the run that is drawn; or NULL
	const struct profile *profile; // with `verdict`, or both NULL
	const struct verdict *verdict;
	const char *style, *script; // CSS and JavaScript of the page
	const char *charts;	    // Apache ECharts as text; NULL: the charts are plain SVG
	const char *version;	    // program that writes the report
};

// What is said, before it is a page or a text.
struct report_model;

// What is to be said of a result, with the histograms beside it. -EINVAL when one of these is none,
// or not of this run; -ENOMEM. The caller frees it.
int report_model_create(struct report_model **ret, const struct html_input *input,
			struct refusal *refusal);
void report_model_free(struct report_model *report_model);

// The folder of the run that the page of a book can draw, from that of the book on; empty: none.
void report_model_example(char *ret, size_t bytes, const struct result *acceptance);

// The same of a study of settings: what tune_report_of() makes, with the `command` that made it and
// the version, `weft`.
int report_model_create_tune(struct report_model **ret, const json_t *study,
			     struct refusal *refusal);

// Whether it is of one run: only that has metrics. And whether a profile can be held against it: a
// book has its own, case by case.
bool report_model_is_result(const struct report_model *report_model);
bool report_model_takes_profile(const struct report_model *report_model);

// The page, with everything in it: no part of it is asked for elsewhere. -EIO.
int html_write(FILE *to, const struct report_model *report_model, const struct html_input *input);

// The facts for a terminal, at most 100 columns wide. -EIO.
int report_model_show(FILE *to, const struct report_model *report_model);

// The same as Markdown, below a heading that the caller writes. -EIO.
int report_model_markdown(FILE *to, const struct report_model *report_model);

// The same in at most 28 lines: the short form of a run, of others what their page says first.
// -EIO.
int report_model_brief(FILE *to, const struct report_model *report_model,
		       struct report_style style);

// All figures of the result, one a line, with their labels: OpenMetrics text, and CSV (RFC 4180)
// with the columns field, where, value, unit, reason. What could not be measured has its reason,
// and no number. -EIO.
int report_model_metrics(FILE *to, const struct report_model *report_model);
int report_model_csv(FILE *to, const struct report_model *report_model);

#ifdef __cplusplus
}
#endif
