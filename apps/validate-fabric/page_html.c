// SPDX-License-Identifier: Apache-2.0
// The report as a page, made of book.json as weft report makes it, so that both say the same.

#include <stdlib.h>
#include <string.h>

#include <weft/page/report_html.h>

#include "page.h"
#include "weft_version.h"
#include <weft/page/page_assets.h>
#include <weft/run/result_file.h>

int page_html(FILE *to, const struct acceptance *acceptance)
{
	char *text = NULL;
	size_t bytes = 0;
	struct report_model *report_model = NULL;
	struct refusal refusal = {0};
	FILE *json = open_memstream(&text, &bytes);
	if (json == NULL)
		return -1;
	int rc = page_json(json, acceptance);
	if (fclose(json) != 0)
		rc = -1;
	static struct example example; // large: kept off the stack
	char path[256] = "";
	struct result *result = NULL;
	if (rc == 0)
		rc = result_parse(&result, "book.json", text, bytes, &refusal);
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
		rc = html_write(to, report_model, &input);
	report_model_free(report_model);
	example_free(&example);
	result_free(result);
	free(text);
	return rc;
}
