// SPDX-License-Identifier: Apache-2.0
// What a scenario expects of its run, computed from the configuration alone, beside what was
// measured.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

#include <weft/result/number.h>

struct expect_row {
	const char *name;
	enum expect_measure measure;
	enum expect_formula formula;
	enum expect_bound bound;
	ps_t from_ps, until_ps;	   // the part of the run; 0, 0 = all of it
	double expected, measured; // in the measure's unit; measured is NAN when there is none,
	const char *reason;	   // and this says why
	double tolerance;	   // relative to `expected`
	bool is_inside;
	char text[240]; // the formula with its numbers filled in
};

// Whether expectation `index` is one of this run: of the variant that ran, and no comparison.
bool expect_applies(const struct scenario *scenario, uint32_t index);

// Whether the row's measure keeps to what is expected.
bool expect_is_inside(const struct expect_row *row);

// Expectation `index` of the scenario.
void expect_of(struct expect_row *ret, const struct report_input *input, uint32_t index);

// Works out what the row's formula comes to for expectation `index`, with its text.
void expect_formula(struct expect_row *ret, const struct report_input *input, uint32_t index);

// "397.1 Gb/s", "0.1 %", "1.2 us"; "none" for NAN.
const char *expect_value_text(struct text *ret, enum expect_measure measure, double value);

// The same of an object's "expected" or "measured"; NULL where its measure is none of these.
const char *expect_row_text(struct text *ret, const json_t *row, const char *key);

// "goodput", ...; "planes_left", ...; "near", ...
const char *expect_measure_name(enum expect_measure measure);
const char *expect_bound_name(enum expect_bound bound);
const char *expect_formula_name(enum expect_formula formula);

// A row as an object.
json_t *expect_row_json(const struct expect_row *row);

// The section's head, and a row of it from its object.
void expect_table_head(FILE *to);
void expect_table_row(FILE *to, const json_t *row);

// The section "Expected" of the table; nothing when the document expects nothing.
void expect_table(FILE *to, const json_t *result);

// All rows as a list for result.json.
json_t *expect_json(const struct report_input *input);
