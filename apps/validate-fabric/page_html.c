// SPDX-License-Identifier: Apache-2.0
// The report as a page and as Markdown, made of book.json as weft report makes it, so that all
// three say the same.

#include <stdlib.h>
#include <string.h>

#include <weft/page/report_html.h>
#include <weft/result/report_escape.h>

#include "page.h"
#include "weft_version.h"
#include <weft/page/page_assets.h>
#include <weft/run/result_file.h>

static int parse(struct result **ret, const struct acceptance *acceptance)
{
	char *text = NULL;
	size_t bytes = 0;
	struct refusal refusal = {0};
	FILE *json = open_memstream(&text, &bytes);
	if (json == NULL)
		return -1;
	int rc = page_json(json, acceptance);
	if (fclose(json) != 0)
		rc = -1;
	if (rc == 0)
		rc = result_parse(ret, "book.json", text, bytes, &refusal);
	free(text);
	return rc;
}

// `write` gets the model of the report.
static int with_model(FILE *to, const struct acceptance *acceptance,
		      int (*write)(FILE *to, const struct acceptance *acceptance,
				   const struct report_model *report_model,
				   const struct html_input *input))
{
	struct report_model *report_model = NULL;
	struct refusal refusal = {0};
	static struct example example; // large: kept off the stack
	char path[256] = "";
	struct result *result = NULL;
	int rc = parse(&result, acceptance);
	struct html_input input = {.result = result,
				   .style = page_style,
				   .script = page_script,
				   .charts = page_charts,
				   .version = WEFT_VERSION_TEXT};
	if (rc == 0)
		report_model_example(path, sizeof(path), result);
	if (*path != '\0') {
		example_read(&example, acceptance->out, path);
		input.cables = example.cables;
		input.example = example.cables != NULL ? example.file.result : NULL;
	}
	if (rc == 0)
		rc = report_model_create(&report_model, &input, &refusal);
	if (rc == 0)
		rc = write(to, acceptance, report_model, &input);
	report_model_free(report_model);
	example_free(&example);
	result_free(result);
	return rc;
}

static int html(FILE *to, const struct acceptance *acceptance,
		const struct report_model *report_model, const struct html_input *input)
{
	(void)acceptance;
	return html_write(to, report_model, input);
}

static int markdown(FILE *to, const struct acceptance *acceptance,
		    const struct report_model *report_model, const struct html_input *input)
{
	(void)input;
	fputs("# Validation of a fabric: ", to);
	escape_markdown(to, page_name(acceptance));
	fputs("\n\n**", to);
	page_verdict(to, acceptance);
	fprintf(to, "**%s. %s.\n", acceptance->is_done ? "" : " so far: this report is partial",
		WEFT_VERSION_TEXT);
	return report_model_markdown(to, report_model);
}

int page_html(FILE *to, const struct acceptance *acceptance)
{
	return with_model(to, acceptance, html);
}

int page_text(FILE *to, const struct acceptance *acceptance)
{
	return with_model(to, acceptance, markdown);
}
