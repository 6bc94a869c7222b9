// SPDX-License-Identifier: Apache-2.0
// The report as a page, made of book.json as weft report makes it, so that both say the same.

#include <stdlib.h>
#include <string.h>

#include <weft/page/report_html.h>

#include "page.h"
#include "weft_version.h"
#include <weft/page/page_assets.h>
#include <weft/run/example.h>

static void put_word(FILE *to, const char *option, const char *word)
{
	fprintf(to, " %s", option);
	if (word == NULL)
		return;
	fputs(strpbrk(word, " '\"{}[]$&;*?<>|()") == NULL ? " " : " '", to);
	for (const char *at = word; *at != '\0'; at++)
		fputs(*at == '\'' ? "'\\''" : (char[2]){*at, '\0'}, to);
	fputs(strpbrk(word, " '\"{}[]$&;*?<>|()") == NULL ? "" : "'", to);
}

void page_command(FILE *to, const struct acceptance *acceptance)
{
	fputs("weft validate-fabric", to);
	put_word(to, acceptance->name, NULL);
	put_word(to, "--out", acceptance->out);
	if (acceptance->is_quick)
		put_word(to, "--quick", NULL);
	if (acceptance->only != NULL)
		put_word(to, "--only", acceptance->only);
	if (strcmp(acceptance->with, "sim") != 0)
		put_word(to, "--with", acceptance->with);
	if (acceptance->ports != NULL)
		put_word(to, "--ports", acceptance->ports);
	for (uint32_t i = 0; i < acceptance->required_count; i++)
		put_word(to, "--require", acceptance->required[i]);
	for (uint32_t i = 0; i < acceptance->set_count; i++)
		put_word(to, "--set", acceptance->sets[i]);
	for (uint32_t i = 0; i < acceptance->fault_count; i++)
		put_word(to, "--fault", acceptance->faults[i]);
}

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
	fclose(json);
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
