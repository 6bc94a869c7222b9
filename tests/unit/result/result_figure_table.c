// SPDX-License-Identifier: Apache-2.0
// Tests of the table of figures: its rows, and what is made of them.

#include <math.h>

#include <weft/result/figure_table.h>
#include <weft/result/figures.h>

#include "result_at.h"

static const struct figure_row *row_of(const char *section, const char *key)
{
	for (uint32_t i = 0; i < figure_count(); i++)
		if (strcmp(figure_at(i)->section, section) == 0 &&
		    strcmp(figure_at(i)->key, key) == 0)
			return figure_at(i);
	fail_msg("no row %s.%s", section, key);
	return NULL;
}

static void no_figure_stands_twice_and_each_is_seen(void **)
{
	for (uint32_t i = 0; i < figure_count(); i++) {
		const struct figure_row *row = figure_at(i), *other;
		for (uint32_t k = 0; k < i; k++) {
			other = figure_at(k);
			assert_false(strcmp(row->section, other->section) == 0 &&
				     strcmp(row->key, other->key) == 0);
			assert_false(row->study != NULL && other->study != NULL &&
				     strcmp(row->study, other->study) == 0);
		}
		assert_true(row->section[0] != '\0' || row->study != NULL);
		if (row->shown != FIGURE_HIDDEN || row->on_page || row->study != NULL)
			assert_non_null(row->label);
	}
}

static void the_document_has_every_row(void **)
{
	struct fake *fake = fake_ring();
	json_t *root = json_of(fake);
	for (uint32_t i = 0; i < figure_count(); i++) {
		const struct figure_row *row = figure_at(i);
		char path[128];
		snprintf(path, sizeof(path), "%s.%s", row->section, row->key);
		bool is_sometimes = strcmp(row->section, "pfc") == 0 ||
			strcmp(row->section, "ports") == 0 || strcmp(row->section, "capture") == 0;
		if (row->section[0] == '\0' || is_sometimes)
			continue; // of studies alone; of a fabric with PFC; of real frames
		const json_t *value = at(root, path);
		assert_non_null(value);
		if (row->unit == FIGURE_WORD || row->unit == FIGURE_TEXT) {
			assert_true(isnan(figure_real(row, &fake->input)));
			continue;
		}
		double real = figure_real(row, &fake->input);
		if (figure_missing(row, &fake->input) != NULL) {
			assert_true(json_is_null(value));
			continue;
		}
		double found = json_is_boolean(value) ? json_is_true(value)
						      : json_number_value(value);
		assert_true(fabs(found - real) <= 1e-11 * fabs(real)); // 12 digits
	}
	json_decref(root);
	fake_free(fake);
}

static void what_a_run_cannot_have_says_why(void **)
{
	struct fake *fake = fake_sample();
	const struct figure_row *queue = row_of("congestion", "queue_bytes_max");
	const struct figure_row *sent = row_of("conservation", "sent");
	assert_string_equal(figure_missing(queue, &fake->input), "not valid in this sample");
	assert_true(isnan(figure_real(queue, &fake->input)));
	assert_null(figure_missing(sent, &fake->input));
	fake->input.wall = json_object();
	json_t *root = json_of(fake);
	reason_is(root, "conservation.sent", NOT_ALL_HOSTS);
	reason_is(root, "speed.hops", NOT_OWN_FABRIC);
	reason_is(root, "speed.windows", "hosts go by the clock, turn after turn");
	json_decref(root);
	fake->input.is_whole = true;
	assert_null(figure_missing(sent, &fake->input));
	json_decref(fake->input.wall);
	fake->input.wall = NULL;
	fake_free(fake);
}

static void the_table_prints_rows_with_their_parts(void **)
{
	struct fake *fake = fake_ring();
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	assert_non_null(to);
	json_t *root = json_of(fake);
	assert_int_equal(figures_table(to, true, root), 0);
	assert_true(figures_table(to, false, root) >= 8);
	json_decref(root);
	fclose(to);
	const char *core = strstr(text, "trims in the core"),
		   *part = strstr(text, "\n    retransmitted (NACK) ");
	assert_non_null(core);
	assert_non_null(part);
	assert_true(core < part);
	assert_non_null(strstr(core, " of data packets\n"));
	assert_true(part < strstr(text, "deepest data queue"));
	for (uint32_t i = 0; i < figure_count(); i++) { // whatever their section
		const struct figure_row *row = figure_at(i);
		if (row->shown == FIGURE_ALONE || row->shown == FIGURE_WITH_SHARE ||
		    row->shown == FIGURE_PART)
			assert_non_null(strstr(text, row->label));
	}
	free(text);
	fake_free(fake);
}
