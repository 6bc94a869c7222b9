// SPDX-License-Identifier: Apache-2.0
// Expectations as rows of the table and of result.json.

#include <jansson.h>

#include "expect.h"
#include "number.h"

json_t *expect_json(const struct report_input *input)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < input->world->scenario->expectation_count; i++) {
		struct expect_row row;
		expect_of(&row, input, i);
		json_array_append_new(array,
				      json_pack("{ss ss ss sf sf sf sb}", "measure",
						expect_measure_name(row.measure), "formula",
						expect_formula_name(row.formula), "text", row.text,
						"expected", row.expected, "measured", row.measured,
						"tolerance", row.tolerance, "inside",
						row.is_inside));
	}
	return array;
}

static const char *value_text(struct text *ret, const struct expect_row *row, double value)
{
	return row->measure == EXPECT_GOODPUT ? number_rate(ret, value) : number_share(ret, value);
}

static void row_print(FILE *to, const struct expect_row *row)
{
	struct text text[3];
	double off = row->expected > 0 ? row->measured / row->expected - 1 : 0;
	fprintf(to, "  %-14s %12s %12s %+9.3f %% %11s  %s\n", expect_measure_name(row->measure),
		value_text(&text[0], row, row->expected), value_text(&text[1], row, row->measured),
		off * 100, number_share(&text[2], row->tolerance),
		row->is_inside ? "inside" : "OUTSIDE");
	fprintf(to, "    %s = %s\n", expect_formula_name(row->formula), row->text);
}

void expect_table(FILE *to, const struct report_input *input)
{
	uint32_t count = input->world->scenario->expectation_count;
	if (count == 0)
		return;
	fprintf(to, "\nExpected from the configuration (goodput per receiving NIC)\n");
	fprintf(to, "  %-14s %12s %12s %11s %11s  %s\n", "", "expected", "measured", "off by",
		"tolerance", "inside?");
	for (uint32_t i = 0; i < count; i++) {
		struct expect_row row;
		expect_of(&row, input, i);
		row_print(to, &row);
	}
}
