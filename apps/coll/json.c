// SPDX-License-Identifier: Apache-2.0
// What the table has, as JSON: sizes in bytes, times in microseconds, rates in GB/s.

#include <weft/check.h>

#include "coll.h"
#include "weft_version.h"

// Takes `value`; our own JSON must be good.
static void put(json_t *to, const char *name, json_t *value)
{
	check(value != NULL && json_object_set_new(to, name, value) == 0);
}

static void put_count(json_t *to, const char *name, uint64_t value)
{
	put(to, name, json_integer((json_int_t)value));
}

void json_row(struct call *call, const struct measured *row)
{
	json_t *to = json_object();
	if (call->json == NULL)
		call->json = json_array();
	put_count(to, "bytes", row->bytes);
	put_count(to, "count", row->count);
	put_count(to, "ranks", row->ranks);
	put(to, "algorithm", json_string(algorithm_of(row)));
	put(to, "time_us", json_real(row->time_us));
	put(to, "ideal_us", json_real(ideal_us(row)));
	put(to, "ideal_limit", json_string(ideal_limit_name(row->ideal.limit)));
	put(to, "algbw_GBps", json_real(algbw(row)));
	put(to, "busbw_GBps", json_real(busbw(row)));
	put(to, "wrong", row->is_checked ? json_integer((json_int_t)row->wrong) : json_null());
	put(to, "extrapolated", json_boolean(row->is_extrapolated));
	put(to, "time_error_us", json_real(row->is_extrapolated ? row->error_us : 0));
	check(json_array_append_new(call->json, to) == 0);
}

void json_print(FILE *to, const struct call *call, double busbw_mean)
{
	json_t *root = json_object();
	put_count(root, "schema", 1);
	put(root, "weft", json_string(WEFT_VERSION_TEXT));
	put(root, "collective", json_string(coll_kind_name(call->kind)));
	put(root, "scenario", json_string(call->scenario.name));
	put(root, "type", json_string(call->type->name));
	put(root, "root", coll_has_root(call->kind) ? json_integer(call->root) : json_null());
	put_count(root, "seed", call->seed);
	put_count(root, "iterations", call->iterations);
	put(root, "sizes", json_incref(call->json));
	put(root, "busbw_mean_GBps", json_real(busbw_mean));
	json_dumpf(root, to, JSON_INDENT(2));
	fputc('\n', to);
	json_decref(root);
}
