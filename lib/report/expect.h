// SPDX-License-Identifier: Apache-2.0
// What a scenario expects of its run, computed from the configuration alone, beside what was
// measured.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>
#include <weft/report.h>

struct expect_row {
	enum expect_measure measure;
	enum expect_formula formula;
	double expected, measured; // bits per second, or a share
	double tolerance;	   // relative to `expected`
	bool is_inside;
	char text[160]; // the formula with its numbers filled in
};

// Expectation `index` of the scenario.
void expect_of(struct expect_row *ret, const struct report_input *input, uint32_t index);

// "goodput", ...; "planes_left", ...
const char *expect_measure_name(enum expect_measure measure);
const char *expect_formula_name(enum expect_formula formula);

// The section "Expected" of the table; nothing when the scenario expects nothing.
void expect_table(FILE *to, const struct report_input *input);

// The same as a list for result.json.
json_t *expect_json(const struct report_input *input);
