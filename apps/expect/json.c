// SPDX-License-Identifier: Apache-2.0
// The table as JSON.

#include <jansson.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>
#include <weft/result/put.h>

#include "expect.h"
#include "weft_version.h"

static json_t *row_json(const struct call *call, const struct row *row)
{
	bool is_wire = row->ranks == 0;
	json_t *to = json_pack("{s:I, s:s, s:s}", "size", (json_int_t)row->bytes, "test",
			       is_wire ? "ib_write_bw" : call->collective, "unit",
			       is_wire ? "Gb/s" : "GB/s");
	check_memory(to != NULL);
	if (!is_wire)
		json_object_set_new(to, "ranks", json_integer(row->ranks));
	const struct {
		const char *name;
		double value;
	} figures[] = {{"least", row->least}, {"expected", row->expected}, {"most", row->most}};
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		json_object_set_new(to, figures[i].name,
				    row->has_expected ? json_real(figures[i].value) : json_null());
	json_object_set_new(to, "why_not",
			    row->has_expected ? json_null() : json_string(row->why_not));
	if (call->against != NULL) {
		json_object_set_new(to, "measured", json_real(row->measured));
		json_object_set_new(to, "verdict", json_string(verdict_name(row_verdict(row))));
	}
	return to;
}

void json_print(FILE *to, const struct call *call)
{
	json_t *rows = json_array();
	for (uint32_t i = 0; i < call->row_count; i++)
		json_array_append_new(rows, row_json(call, &call->rows[i]));
	json_t *root = json_pack("{s:i, s:s, s:s, s:f, s:f, s:o}", "schema", 1, "weft",
				 WEFT_VERSION_TEXT, "scenario", call->scenario.name,
				 "within_percent", call->within, "launch_s",
				 (double)call->launch_ns / 1e9, "rows", rows);
	check(root != NULL);
	document_print(to, root, JSON_ENSURE_ASCII);
}
