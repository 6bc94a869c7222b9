// SPDX-License-Identifier: Apache-2.0
// What a report says: sections with sentences, tables and charts, kept as JSON, so that the page,
// its charts and the text on the terminal are made of the same facts.
//
//   section {id, title, notes [text], tables [table], charts [chart]}
//   table   {caption, head [text], rows [[cell]], more, all: where all rows are, if not in
//   result.json}   cell: text, or {text, state} or {text, link}; more: it
//           belongs to the page alone
//   chart   {id, kind, title, x, y {name, log, scale: zero need not be on it}, series [{name,
//   points [[x, y]]}], labels, rows, cells, spans,
//           bands}
//             line   series over x; x and y {name, log}
//             points series of points by themselves, or with `joined` along a line; a point may be
//                    [x, y, low, high]: an interval of y
//             parallel  series of [a value or null for each of `labels`]: a line over all of them
//             bar    series of one value for each of `labels`
//             heat   cells [[column, row, value]] over `labels` and `rows`; value null: none;
//                    `cool`, else 0, is the value of the palest look
//             spans  spans [[row, from, to, name]] over `rows`; a fifth element is its colour,
//                    a sixth the mean, which is marked
//           bands [{name, from, to}]: times of faults, in units of x
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/page/report_html.h>
#include <weft/result/figure_table.h>
#include <weft/result/put.h>

#include "picture.h"

struct report_model {
	enum result_kind kind;
	json_t *result;		 // as it was read
	json_t *sections;	 // in the order in which they are shown
	json_t *story;		 // what the page says first (story.h), or NULL
	struct picture *picture; // of the fabric, or NULL
	char title[96];
	char state_text[128]; // what the verdict says beside its word: coverage; or empty
	char state[16];	      // pass, fail, not_valid, partial, or empty: no verdict was asked for
};

// What a number of the result is, for people.
enum unit {
	UNIT_COUNT,
	UNIT_PS,
	UNIT_NS,
	UNIT_BPS,
	UNIT_BYTES,
	UNIT_SHARE,
	UNIT_FACTOR,
	UNIT_GBS,
	UNIT_TEXT, // none: a text
};

json_t *report_model_section(struct report_model *report_model, const char *id, const char *title);
void report_model_note(json_t *section, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

// `head` ends with NULL.
json_t *report_model_table(json_t *section, const char *caption, const char *const head[]);
void report_model_is_more(json_t *table); // of the page alone: too long for a terminal
json_t *report_model_row(json_t *table);
void report_model_cell(json_t *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A table with a row for each of `list`, and a column for each figure or text of it up to one
// without a head.
struct report_model_column {
	const char *head, *key;
	enum unit unit;
};
json_t *report_model_list(json_t *section, const char *caption, const json_t *list,
			  const struct report_model_column *columns);

// A cell with a word for its look: met, missed, unavailable, skipped.
void report_model_cell_state(json_t *row, const char *text, const char *state);

// A cell that leads to a file beside the page.
void report_model_cell_link(json_t *row, const char *text, const char *path);

// A figure of the result, or "unavailable: " and why.
void report_model_figure(json_t *row, const json_t *from, const char *key, enum unit unit);

// What an expectation measured, or expects, in the unit of its measure.
void report_model_expected(json_t *row, const json_t *expectation, const char *key);

// "12.3 us", "97 Gb/s", "1,234": `value` in `unit`.
const char *report_model_number_text(char *ret, size_t bytes, double value, enum unit unit);

// The same with at most four digits of a factor and one decimal of a share, where neither hides
// what it is about: a loss below one percent, or what falls short of all.
const char *report_model_rounded_text(char *ret, size_t bytes, double value, enum unit unit);

// A fact of two columns: name and figure.
void report_model_fact(json_t *table, const char *name, const json_t *from, const char *key,
		       enum unit unit);

// A figure of the table of figures (COUNT, BYTES, PS, SHARE, FACTOR, RATE, NS) as such a fact.
void report_model_row_figure(json_t *table, const json_t *result, const struct figure_row *row);

json_t *report_model_chart(json_t *section, const char *id, const char *kind, const char *title);
void report_model_axis(json_t *chart, const char *axis, const char *name, bool is_log);
json_t *report_model_series(json_t *chart, const char *name); // its list of points
void report_model_point(json_t *points, double x, double y);

// Cell of a heat map; and bin `index` of a series over time, which is a step.
void report_model_heat(json_t *cells, size_t column, size_t row, double value);
void report_model_bin(json_t *points, size_t index, double width, double value);

// The same with an interval, of kind points; and whether a line joins them.
void report_model_point_between(json_t *points, double x, double y, double low, double high);
void report_model_is_joined(json_t *chart);

// A chart that cannot be drawn, and why.
void report_model_missing(json_t *section, const char *what, const char *reason);

// The sections, each file its own: report_model_summary.c, report_model_latency.c,
// report_model_load.c, report_model_time.c, report_model_rest.c.
void report_model_summary(struct report_model *report_model, const struct html_input *input);
void report_model_culprits(struct report_model *report_model);
void report_model_latency(struct report_model *report_model, const struct html_input *input);
void report_model_load(struct report_model *report_model);
void report_model_time(struct report_model *report_model);
void report_model_rest(struct report_model *report_model);

// All of those of another kind: report_model_study.c, report_model_acceptance.c.
void report_model_study(struct report_model *report_model, const struct html_input *input);
void report_model_acceptance(struct report_model *report_model);

// The measures of the cases of a section of the book.
void report_model_measures(json_t *section, const json_t *acceptance, const char *word);

// What several kinds have: checks of a verdict, and the command.
void report_model_verdict(json_t *section, const struct html_input *input);
void report_model_again(struct report_model *report_model);

// "0.9505 (0.9475 to 0.9536)", or as much of it as there is.
void report_model_ratio_cell(json_t *row, const json_t *standing);

// Of a study of settings, a table for each scenario that its search did not see.
void report_model_holdouts(json_t *section, const json_t *study);
