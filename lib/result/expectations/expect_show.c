// SPDX-License-Identifier: Apache-2.0
// Expectations as rows of the table and of result.json.

#include <jansson.h>
#include <math.h>
#include <string.h>

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

const char *expect_row_text(struct text *ret, const json_t *row, const char *key)
{
	const char *name = document_text(row, "measure");
	int measure = 0;
	while (measure < EXPECT_MEASURE_COUNT &&
	       strcmp(expect_measure_name((enum expect_measure)measure), name) != 0)
		measure++;
	if (measure == EXPECT_MEASURE_COUNT)
		return NULL;
	return expect_value_text(ret, (enum expect_measure)measure, document_number(row, key));
}

// "1 %", "at most", "+ 1 %": what the row must keep to.
static const char *tolerance_text(struct text *ret, const json_t *row)
{
	struct text share;
	double tolerance = document_number(row, "tolerance");
	const char *bound = document_text(row, "bound");
	bool is_most = strcmp(bound, expect_bound_name(EXPECT_AT_MOST)) == 0;
	if (strcmp(bound, expect_bound_name(EXPECT_NEAR)) == 0)
		return number_share(ret, tolerance);
	if (tolerance == 0)
		snprintf(ret->at, sizeof(ret->at), "%s", is_most ? "at most" : "at least");
	else
		snprintf(ret->at, sizeof(ret->at), "%s %s", is_most ? "+" : "-",
			 number_share(&share, tolerance));
	return ret->at;
}

void expect_table_row(FILE *to, const json_t *row)
{
	struct text text[4];
	double expected = document_number(row, "expected"),
	       off = expected > 0 ? document_number(row, "measured") / expected - 1 : 0;
	snprintf(text[3].at, sizeof(text[3].at), isnan(off) ? "-" : "%+.3f %%", off * 100);
	fprintf(to, "  %-24s %11s %11s %11s %11s  %s\n", document_text(row, "name"),
		expect_row_text(&text[0], row, "expected"),
		expect_row_text(&text[1], row, "measured"), text[3].at,
		tolerance_text(&text[2], row),
		json_is_true(json_object_get(row, "inside")) ? "inside" : "OUTSIDE");
	table_say(to, row, "    {formula} = {text}\n");
	if (*document_reason(row, "measured") != '\0')
		table_say(to, row, "    measured: unavailable, {measured_reason}\n");
	if (document_number(row, "until_ps") > 0)
		table_say(to, row, "    measured from {from_ps} until {until_ps}\n");
}

void expect_table_head(FILE *to)
{
	fprintf(to, "\nExpected from the configuration (goodput per receiving NIC)\n");
	fprintf(to, "  %-24s %11s %11s %11s %11s  %s\n", "", "expected", "measured", "off by",
		"tolerance", "inside?");
}

void expect_table(FILE *to, const json_t *result)
{
	const json_t *list = json_object_get(result, "expect"), *row;
	size_t i;
	if (json_array_size(list) > 0)
		expect_table_head(to);
	json_array_foreach(list, i, row) expect_table_row(to, row);
}
