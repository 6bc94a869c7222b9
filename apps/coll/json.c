// SPDX-License-Identifier: Apache-2.0
// What the table has, as JSON with the names of nccl-tests' (its src/util.cu, version 2 of that
// file): sizes in bytes, times in microseconds, rates in GB/s.

#include <weft/core/check.h>
#include <weft/result/put.h>

#include "coll.h"
#include "weft_version.h"

// A figure, or null where the size has no time.
static json_t *figure_of(const struct measured *row, double value)
{
	return row->why_not[0] == '\0' ? json_real(value) : json_null();
}

// As nccl-tests names them; it has the same again for data that are changed in place, which a
// fabric cannot tell apart.
static json_t *times_of(const struct measured *row)
{
	json_t *to = json_object();
	put(to, "time", figure_of(row, row->time_us));
	put(to, "alg_bw", figure_of(row, algbw(row)));
	put(to, "bus_bw", figure_of(row, busbw(row)));
	put(to, "nwrong", row->is_checked ? json_integer((json_int_t)row->wrong) : json_null());
	return to;
}

void json_row(struct call *call, const struct measured *row)
{
	json_t *to = json_object();
	bool has_time = row->why_not[0] == '\0';
	if (call->json == NULL)
		call->json = json_array();
	put_count(to, "size", row->bytes);
	put_count(to, "count", row->count);
	put(to, "type", json_string(call->type->name));
	put(to, "redop", json_string(redop_of(call->kind)));
	put(to, "root", json_integer(root_of(call)));
	put(to, "out_of_place", times_of(row));
	put(to, "in_place", json_null());
	put_count(to, "ranks", row->ranks);
	put(to, "algorithm", json_string(algorithm_of(row)));
	put(to, "ideal", json_real(ideal_us(row)));
	put(to, "ideal_percent", figure_of(row, ideal_percent(row)));
	put(to, "ideal_limit", json_string(ideal_limit_name(row->ideal.limit)));
	put(to, "extrapolated", json_boolean(row->is_extrapolated && has_time));
	put(to, "time_error", figure_of(row, row->is_extrapolated ? row->error_us : 0));
	put(to, "why_not", has_time ? json_null() : json_string(row->why_not));
	put_count(to, "packets_whole", row->ideal.packets);
	check(json_array_append_new(call->json, to) == 0);
}

static json_t *out_of_bounds(const struct total *total)
{
	json_t *to = json_object();
	put_count(to, "count", total->wrong);
	put(to, "okay", json_boolean(total->wrong == 0));
	return to;
}

void json_print(FILE *to, const struct call *call, const struct total *total)
{
	json_t *root = json_object();
	put_count(root, "schema", 1);
	put(root, "weft", json_string(WEFT_VERSION_TEXT));
	put(root, "collective", json_string(coll_kind_name(call->kind)));
	put(root, "scenario", json_string(call->scenario.name));
	put_count(root, "seed", call->seed);
	put_count(root, "iterations", call->iterations);
	put(root, "end", json_string(run_end_name(total->end)));
	put(root, "results", call->json != NULL ? json_incref(call->json) : json_array());
	put(root, "out_of_bounds", call->is_checked ? out_of_bounds(total) : json_null());
	json_t *mean = json_object();
	put(mean, "bandwidth",
	    total->timed > 0 ? json_real(total->busbw_sum / total->timed) : json_null());
	put(root, "average_bus_bandwidth", mean);
	document_print(to, root, JSON_ENSURE_ASCII);
}
