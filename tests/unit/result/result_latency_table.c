// SPDX-License-Identifier: Apache-2.0
// Tests of the rows of latencies: each is in the document, and heads of columns are those of rows.

#include <weft/result/latency_table.h>

#include "result_at.h"

static void every_distribution_has_every_row(void **)
{
	static const char *const where[] = {"flows", "messages"};
	struct fake *fake = fake_flows();
	const struct latency_row *row;
	json_t *root = json_of(fake);
	for (uint32_t i = 0; (row = latency_row_at(i)) != NULL; i++)
		for (size_t k = 0; k < 2; k++) {
			const json_t *of = json_object_get(root, where[k]);
			of = json_is_array(of) ? json_array_get(of, 0) : of;
			bool has = k == 1 || row->kind != LATENCY_ERROR;
			assert_int_equal(json_object_get(of, row->key) != NULL, has);
		}
	json_decref(root);
	fake_free(fake);
}

static void columns_are_the_rows_with_a_label(void **)
{
	json_t *latency = json_pack("{si sn sn si}", "p50_ns", 1500, "p99_ns", "p999_ns", "max_ns",
				    2500);
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	assert_non_null(to);
	latency_heads(to, 8);
	latency_times(to, 8, latency);
	fclose(to);
	assert_string_equal(text,
			    "      p50      p99    p99.9      max\n"
			    " 1.500 us        -        - 2.500 us\n");
	free(text);
	json_decref(latency);
}
