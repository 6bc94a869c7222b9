// SPDX-License-Identifier: Apache-2.0
// What pages have in common. See html_page.h.

#include <weft/page/html_page.h>

#include <string.h>

#include "html_plot.h"

void html_page_begin(FILE *to, const char *title, const char *style)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
	      "<link rel=\"icon\" href=\"data:,\"/>\n<title>",
	      to);
	html_text(to, title);
	fprintf(to, "</title>\n<style>\n%s</style>\n</head>\n", style);
}

// Never by colour alone.
static const char *sign_of(const char *state)
{
	return strcmp(state, "good") == 0   ? "\xe2\x9c\x93"
		: strcmp(state, "bad") == 0 ? "\xe2\x9c\x95"
					    : "\xe2\x96\xb2";
}

void html_verdict_begin(FILE *to, const char *state, const char *badge, const char *headline)
{
	fprintf(to,
		"<div class=\"card verdict %s\" id=\"verdict\"><p class=\"badge %s\"><span "
		"aria-hidden=\"true\">%s </span><span>",
		state, state, sign_of(state));
	html_text(to, badge);
	fputs("</span></p>\n<div><h2 class=\"headline\">", to);
	html_text(to, headline);
	fputs("</h2>\n", to);
}

void html_verdict_end(FILE *to)
{
	fputs("</div></div>\n", to);
}
