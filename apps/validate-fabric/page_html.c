// SPDX-License-Identifier: Apache-2.0
// The report as a page, made of book.json as weft report makes it, so that both say the same.

#include <stdlib.h>
#include <string.h>

#include <weft/page/report_html.h>

#include "page.h"
#include "weft_version.h"
#include <weft/page/page_assets.h>

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

void page_command(FILE *to, const struct book *book)
{
	fputs("weft validate-fabric", to);
	put_word(to, book->name, NULL);
	put_word(to, "--out", book->out);
	if (book->is_quick)
		put_word(to, "--quick", NULL);
	if (book->only != NULL)
		put_word(to, "--only", book->only);
	if (strcmp(book->with, "sim") != 0)
		put_word(to, "--with", book->with);
	if (book->ports != NULL)
		put_word(to, "--ports", book->ports);
	for (uint32_t i = 0; i < book->required_count; i++)
		put_word(to, "--require", book->required[i]);
	for (uint32_t i = 0; i < book->set_count; i++)
		put_word(to, "--set", book->sets[i]);
	for (uint32_t i = 0; i < book->fault_count; i++)
		put_word(to, "--fault", book->faults[i]);
}

int page_html(FILE *to, const struct book *book)
{
	char *text = NULL;
	size_t bytes = 0;
	struct sheet *sheet = NULL;
	struct refusal refusal = {0};
	FILE *json = open_memstream(&text, &bytes);
	if (json == NULL)
		return -1;
	int rc = page_json(json, book);
	fclose(json);
	struct result *result = NULL;
	if (rc == 0)
		rc = result_parse(&result, "book.json", text, bytes, &refusal);
	struct html_input input = {.result = result,
				   .style = page_style,
				   .script = page_script,
				   .charts = page_charts,
				   .version = WEFT_VERSION_TEXT};
	if (rc == 0)
		rc = sheet_create(&sheet, &input, &refusal);
	if (rc == 0)
		rc = html_write(to, sheet, &input);
	sheet_free(sheet);
	result_free(result);
	free(text);
	return rc;
}
