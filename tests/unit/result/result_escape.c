// SPDX-License-Identifier: Apache-2.0
// Text of others made fit to be shown, in each form, and however a stream is cut.

#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <weft/result/report_escape.h>

typedef void put_fn(FILE *to, const char *text);

static void shows(put_fn *put, const char *text, const char *as)
{
	char *shown = NULL;
	size_t bytes;
	FILE *to = open_memstream(&shown, &bytes);
	assert_non_null(to);
	put(to, text);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(shown, as);
	free(shown);
}

static void what_hides_is_shown_by_its_number(void **)
{
	shows(escape_line, "a\x1b[31m\n\t", "a[U+001B][31m[U+000A][U+0009]");
	shows(escape_line, "\xc2\x9b\xe2\x80\xae\xe2\x81\xa6", "[U+009B][U+202E][U+2066]");
	shows(escape_line, "\xff\xc3\xa9\xe4\xb8\x96\xc3", "[0xFF]\xc3\xa9\xe4\xb8\x96[0xC3]");
	shows(escape_line, "\xed\xa0\x80\xc0\x80", "[U+D800][0xC0][0x80]");
}

// A reader of XML stops at what XML cannot hold.
static void xml_has_only_characters_of_xml(void **)
{
	shows(escape_xml, "<a b=\"c\" d='&'>", "&lt;a b=&quot;c&quot; d=&#39;&amp;&#39;&gt;");
	shows(escape_xml, "\x01\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd",
	      "[U+0001][U+FFFE][U+FFFF]\xef\xbf\xbd");
}

static void a_cell_is_no_formula(void **)
{
	shows(escape_cell, "=1+1", "'=1+1");
	shows(escape_cell, "-1.5e3", "-1.5e3");
	shows(escape_cell, "-1,\"x\"", "\"'-1,\"\"x\"\"\"");
}

static void a_stream_may_be_cut_anywhere(void **)
{
	static const char text[] = "a\xe2\x80\xae\n\xf0\x9f\x98\x80\x80\xe4\xb8";
	static const char as[] = "a[U+202E]\n\xf0\x9f\x98\x80[0x80][0xE4][0xB8]";
	for (size_t step = 1; step < sizeof(text); step++) {
		char *shown = NULL;
		size_t bytes;
		FILE *to = open_memstream(&shown, &bytes), *visible = escape_open(to);
		assert_non_null(visible);
		for (size_t at = 0; at < strlen(text); at += step) {
			size_t left = strlen(text) - at;
			fwrite(text + at, 1, left < step ? left : step, visible);
			fflush(visible);
		}
		assert_int_equal(escape_close(visible), 0);
		assert_int_equal(fclose(to), 0);
		assert_string_equal(shown, as);
		free(shown);
	}
}

static void a_shell_reads_one_word(void **)
{
	static const struct {
		const char *word, *as;
	} cases[] = {{"out/a-1", "out/a-1"},
		     {"a b", "'a b'"},
		     {"it's", "'it'\\''s'"},
		     {"$HOME`x`", "'$HOME`x`'"},
		     {"", "''"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char shown[16], cut[4];
		escape_shell(shown, sizeof(shown), cases[i].word);
		assert_string_equal(shown, cases[i].as);
		escape_shell(cut, sizeof(cut), cases[i].word);
		assert_int_equal(strncmp(cut, cases[i].as, sizeof(cut) - 1), 0);
	}
}
