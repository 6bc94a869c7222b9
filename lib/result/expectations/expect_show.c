// SPDX-License-Identifier: Apache-2.0
// Expectations as rows of the table and of result.json.

#include <jansson.h>
#include <math.h>

#include <weft/result/expect.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

enum expect_unit { EXPECT_RATE, EXPECT_SHARE, EXPECT_TIME }; // bits per second, of 1, seconds

// A time, or null where there is no window.
static json_t *end_json(const struct expect_row *row, ps_t end_ps)
{
	return row->until_ps == 0 ? json_null() : json_integer(end_ps);
}

json_t *expect_row_json(const struct expect_row *row)
{
	json_t *ret = json_pack("{ss ss ss ss ss so so sf}", "name", row->name, "measure",
				expect_measure_name(row->measure), "formula",
				expect_formula_name(row->formula), "text", row->text, "bound",
				expect_bound_name(row->bound), "from_ps",
				end_json(row, row->from_ps), "until_ps",
				end_json(row, row->until_ps), "expected", row->expected);
	if (isnan(row->measured))
		put_reason(ret, "measured", row->reason);
	else
		put_real(ret, "measured", row->measured);
	put_real(ret, "tolerance", row->tolerance);
	put(ret, "inside", json_boolean(row->is_inside));
	return ret;
}

json_t *expect_json(const struct report_input *input)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < input->world->scenario->expectation_count; i++) {
		struct expect_row row;
		if (!expect_applies(input->world->scenario, i))
			continue;
		expect_of(&row, input, i);
		json_array_append_new(array, expect_row_json(&row));
	}
	return array;
}

const char *expect_value_text(struct text *ret, enum expect_measure measure, double value)
{
	static const enum expect_unit units[EXPECT_MEASURE_COUNT] = {
		[EXPECT_GOODPUT] = EXPECT_RATE,	      [EXPECT_RETRANSMITTED] = EXPECT_SHARE,
		[EXPECT_LOST] = EXPECT_SHARE,	      [EXPECT_FURTHER] = EXPECT_TIME,
		[EXPECT_BYPASS] = EXPECT_TIME,	      [EXPECT_LEAVING] = EXPECT_TIME,
		[EXPECT_RECOVERY] = EXPECT_TIME,      [EXPECT_RATIO] = EXPECT_SHARE,
		[EXPECT_GOODPUT_KEPT] = EXPECT_SHARE,
	};
	if (isnan(value)) {
		snprintf(ret->at, sizeof(ret->at), "none");
		return ret->at;
	}
	switch (units[measure]) {
	case EXPECT_RATE:
		return number_rate(ret, value);
	case EXPECT_SHARE:
		return number_share(ret, value);
	default:
		return number_time(ret, (ps_t)(value * PS_PER_S + 0.5));
	}
}

// "+- 1 %", "at most", "at most + 1 %": what the row must keep to.
static const char *tolerance_text(struct text *ret, const struct expect_row *row)
{
	struct text share;
	const char *const sides[] = {"", "at most", "at least"};
	if (row->bound == EXPECT_NEAR)
		return number_share(ret, row->tolerance);
	if (row->tolerance == 0)
		snprintf(ret->at, sizeof(ret->at), "%s", sides[row->bound]);
	else
		snprintf(ret->at, sizeof(ret->at), "%s %s",
			 row->bound == EXPECT_AT_MOST ? "+" : "-",
			 number_share(&share, row->tolerance));
	return ret->at;
}

void expect_table_row(FILE *to, const struct expect_row *row)
{
	struct text text[4];
	double off = row->expected > 0 ? row->measured / row->expected - 1 : 0;
	snprintf(text[3].at, sizeof(text[3].at), isnan(off) ? "-" : "%+.3f %%", off * 100);
	fprintf(to, "  %-24s %11s %11s %11s %11s  %s\n", row->name,
		expect_value_text(&text[0], row->measure, row->expected),
		expect_value_text(&text[1], row->measure, row->measured), text[3].at,
		tolerance_text(&text[2], row), row->is_inside ? "inside" : "OUTSIDE");
	fprintf(to, "    %s = %s\n", expect_formula_name(row->formula), row->text);
	if (isnan(row->measured) && row->reason != NULL)
		fprintf(to, "    measured: unavailable, %s\n", row->reason);
	if (row->until_ps > 0)
		fprintf(to, "    measured from %s until %s\n", number_time(&text[0], row->from_ps),
			number_time(&text[1], row->until_ps));
}

void expect_table_head(FILE *to)
{
	fprintf(to, "\nExpected from the configuration (goodput per receiving NIC)\n");
	fprintf(to, "  %-24s %11s %11s %11s %11s  %s\n", "", "expected", "measured", "off by",
		"tolerance", "inside?");
}

void expect_table(FILE *to, const struct report_input *input)
{
	const struct scenario *scenario = input->world->scenario;
	bool is_begun = false;
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		struct expect_row row;
		if (!expect_applies(scenario, i))
			continue;
		if (!is_begun)
			expect_table_head(to);
		is_begun = true;
		expect_of(&row, input, i);
		expect_table_row(to, &row);
	}
}
