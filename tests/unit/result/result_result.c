// SPDX-License-Identifier: Apache-2.0
// Tests of how a result is read again: the schemas as far as they are used, equations between
// figures, histograms. Whole results are spoilt in tests/golden/program_spoilt.py.

#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "agreement.h"
#include <weft/result/result.h>
#include <weft/result/schema.h>

static void schemas_are_held_to(void **state)
{
	static const char schema[] =
		"{\"type\": \"object\", \"properties\": {\"a\": {\"type\": [\"integer\", \"null\"],"
		"\"minimum\": 0}, \"b\": {\"type\": \"array\", \"items\": {\"type\": \"number\"}},"
		"\"c\": {\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}},"
		"\"d\": {\"const\": 1}}, \"required\": [\"a\"], \"additionalProperties\": false}";
	static const struct {
		const char *text, *path, *says; // NULL: it holds
	} rows[] = {
		{"{\"a\": 0}", NULL, NULL},
		{"{\"a\": null, \"b\": [1, 2.5], \"c\": {\"x\": \"y\"}, \"d\": 1}", NULL, NULL},
		{"{}", "a", "is missing"},
		{"{\"a\": 1.0}", "a", "integer"},
		{"{\"a\": -1}", "a", "below 0"},
		{"{\"a\": true}", "a", "integer"},
		{"{\"a\": 0, \"b\": [1, \"2\"]}", "b[1]", "number"},
		{"{\"a\": 0, \"b\": {}}", "b", "array"},
		{"{\"a\": 0, \"c\": {\"x\": 1}}", "c.x", "string"},
		{"{\"a\": 0, \"d\": 2}", "d", "not what"},
		{"{\"a\": 0, \"e\": 2}", "e", "not a known field"},
		{"[]", "", "object"},
	};
	json_t *held = json_loads(schema, 0, NULL);
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct schema_fault fault;
		json_t *value = json_loads(rows[i].text, 0, NULL);
		assert_non_null(value);
		bool is_good = schema_holds(&fault, held, value);
		json_decref(value);
		assert_int_equal(is_good, rows[i].says == NULL);
		if (is_good)
			continue;
		assert_string_equal(fault.path, rows[i].path);
		if (strstr(fault.text, rows[i].says) == NULL)
			fail_msg("%s: %s", rows[i].text, fault.text);
	}
	json_decref(held);
}

static void equations_hold_where_both_sides_are_there(void **state)
{
	static const struct {
		const char *fields, *path; // NULL: they agree
	} rows[] = {
		{"", NULL},
		{"\"goodput\": {\"per_nic_bps\": 5, \"nics_receiving\": 2, \"total_bps\": 10}",
		 NULL},
		{"\"goodput\": {\"per_nic_bps\": 5, \"nics_receiving\": 2, \"total_bps\": 11}",
		 "goodput"},
		{"\"goodput\": {\"per_nic_bps\": null, \"nics_receiving\": 2, \"total_bps\": 11}",
		 NULL},
		{"\"collectives\": [{\"release_ps\": 1, \"start_ps\": null, \"end_ps\": 2}]", NULL},
		{"\"collectives\": [{\"release_ps\": 3, \"start_ps\": null, \"end_ps\": 2}]",
		 "collectives[]"},
		{"\"conservation\": {\"dropped\": 3}, \"drops\": [{\"switches\": 1, \"cables\": "
		 "2}]",
		 NULL},
		{"\"conservation\": {\"dropped\": 4}, \"drops\": [{\"switches\": 1, \"cables\": "
		 "2}]",
		 ""},
		{"\"planes\": {\"each\": [{}, {}]}, \"network\": {\"planes\": 2}", NULL},
		{"\"planes\": {\"each\": [{}, {}]}, \"network\": {\"planes\": 3}", ""},
		{"\"x\": [{\"p50_us\": 1, \"p99_us\": 2, \"mean_us\": 9}]", NULL},
		{"\"x\": [{\"p50_us\": 3, \"p99_us\": 2}]", "x[0]"},
		{"\"x\": {\"y\": {\"p50_us\": 1, \"min_us\": 1, \"mean_us\": 9, \"max_us\": 8}}",
		 "x.y"},
		{"\"transport\": {\"duplicates\": 9007199254740993, "
		 "\"data_received\": 9007199254740992}",
		 NULL}, // beyond 2^53 they are alike
		{"\"transport\": {\"duplicates\": 1000000000001, \"data_received\": 1000000000000}",
		 "transport"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];
		struct schema_fault fault;
		snprintf(text, sizeof(text),
			 "{\"run\": {\"end\": \"done\", \"partial\": false}%s%s}",
			 rows[i].fields[0] == '\0' ? "" : ", ", rows[i].fields);
		json_t *fields = json_loads(text, 0, NULL);
		assert_non_null(fields);
		bool is_good = agreement_holds(&fault, RESULT_RUN, fields);
		json_decref(fields);
		if (is_good != (rows[i].path == NULL))
			fail_msg("%s: %s %s", rows[i].fields, fault.path, fault.text);
		if (!is_good)
			assert_string_equal(fault.path, rows[i].path);
	}
}

#define LINES "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
#define ROW_1 "       1.000 0.000000000000          2           1.00\n"
#define ROW_2 "       2.000 1.000000000000          4\n"
#define TOTAL "#[Max     =        2.000, Total count    =            4]\n"
#define END "#[unit us; complete; digest 0123456789abcdef]\n"

static void histograms_are_those_of_the_run(void **state)
{
	static const struct {
		const char *text, *name, *says; // NULL: it holds
	} rows[] = {
		{LINES ROW_1 ROW_2 TOTAL END, "d/flow.hdr", NULL},
		{LINES ROW_1 ROW_2 TOTAL END, "message_same_t0.hdr", "of other packets"},
		{LINES ROW_1 ROW_2 TOTAL END, "gap_ns.hdr", NULL},
		{LINES TOTAL END "#[EV number 3]\n", "one_way_ev_slowest_1.hdr", NULL},
		{"", "flow.hdr", "not a histogram"},
		{LINES, "flow.hdr", "was cut"},
		{LINES ROW_1 ROW_2 TOTAL, "flow.hdr", "was cut"},
		{LINES ROW_1 ROW_2 END, "flow.hdr", "was cut"},
		{LINES ROW_2 ROW_1 TOTAL END, "flow.hdr", "do not rise"},
		{LINES ROW_1 ROW_1 TOTAL END, "flow.hdr", "do not rise"},
		{LINES ROW_1 ROW_2 "#[Total count    =            3]\n" END, "flow.hdr",
		 "more than its total"},
		{LINES ROW_1 ROW_2 TOTAL "#[unit us; complete; digest 0123456789abcdee]\n",
		 "flow.hdr", "of another run"},
		{LINES ROW_1 ROW_2 TOTAL "#[unit us; PARTIAL RESULT; digest 0123456789abcdef]\n",
		 "flow.hdr", "partial"},
	};
	struct result *result = result_unchecked(
		json_loads(
			"{\"run\": {\"digest\": \"0123456789abcdef\"}, \"flows\": {\"count\": 4},"
			"\"messages\": [{\"pair\": \"same_t0\", \"count\": 5}]}",
			0, NULL),
		"result.json");
	(void)state;
	assert_non_null(result);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct refusal refusal = {0};
		int rc = result_check_histogram(result, rows[i].name, rows[i].text,
						strlen(rows[i].text), &refusal);
		if (rc != (rows[i].says == NULL ? 0 : -EINVAL))
			fail_msg("%zu: %s", i, refusal.text);
		if (rc == 0)
			continue;
		assert_string_equal(refusal.file, rows[i].name);
		if (strstr(refusal.text, rows[i].says) == NULL)
			fail_msg("%zu: %s", i, refusal.text);
	}
	result_free(result);
}

static void what_is_no_result_is_refused(void **state)
{
	static const char *const texts[] = {"",
					    "{",
					    "[]",
					    "{}",
					    "{\"schema\": 1}",
					    "{\"schema\": 1, \"weft\": \"x\", \"run\": {}}",
					    "{\"schema\": 1, \"schema\": 1, \"weft\": \"x\"}"};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct refusal refusal = {0};
		struct result *result;
		assert_int_equal(
			result_parse(&result, "a/r.json", texts[i], strlen(texts[i]), &refusal),
			-EINVAL);
		assert_null(result);
		assert_string_equal(refusal.file, "a/r.json");
		assert_true(refusal.text[0] != '\0');
	}
}
