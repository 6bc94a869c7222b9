// SPDX-License-Identifier: Apache-2.0
// JUnit XML. Attributes and elements, and their order, are those that the strictest of its readers
// asks for; others pass over what they do not know.

#include <errno.h>
#include <math.h>

#include <weft/result/report_escape.h>
#include <weft/verdict/report_junit.h>

static void put_attribute(FILE *to, const char *name, const char *text)
{
	fprintf(to, " %s=\"", name);
	escape_xml(to, text);
	fputc('"', to);
}

static void put_time(FILE *to, double time_s)
{
	fprintf(to, " time=\"%.3f\"", isfinite(time_s) && time_s > 0 ? time_s : 0);
}

void junit_open(struct junit *ret, FILE *to, const struct junit_origin *origin)
{
	*ret = (struct junit){.to = to, .origin = *origin};
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", to);
}

void junit_suite(struct junit *junit, const struct junit_suite *suite)
{
	FILE *to = junit->to;
	fputs(" <testsuite", to);
	put_attribute(to, "name", suite->name);
	put_attribute(to, "package", "weft");
	put_attribute(to, "hostname", junit->origin.host);
	put_attribute(to, "timestamp", junit->origin.time);
	fprintf(to, " id=\"%u\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\"",
		junit->suites++, suite->tests, suite->failures, suite->errors, suite->skipped);
	put_time(to, suite->time_s);
	fputs(">\n  <properties/>\n", to);
}

void junit_case(struct junit *junit, const struct junit_case *one)
{
	static const char *const tags[] = {"", "failure", "error", "skipped"};
	static const char *const types[] = {"", "missed", "not valid", "not asked"};
	FILE *to = junit->to;
	fputs("  <testcase", to);
	put_attribute(to, "classname", one->suite);
	put_attribute(to, "name", one->name);
	put_time(to, one->time_s);
	if (one->end == JUNIT_PASSED) {
		fputs("/>\n", to);
		return;
	}
	fprintf(to, "><%s", tags[one->end]);
	put_attribute(to, "type", types[one->end]);
	put_attribute(to, "message", one->why);
	fputs("/></testcase>\n", to);
}

void junit_suite_end(struct junit *junit)
{
	fputs("  <system-out/>\n  <system-err/>\n </testsuite>\n", junit->to);
}

int junit_close(struct junit *junit)
{
	fputs("</testsuites>\n", junit->to);
	return ferror(junit->to) ? -EIO : 0;
}
