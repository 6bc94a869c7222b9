// SPDX-License-Identifier: Apache-2.0
// What is in a trace, as JSON.

#include <weft/core/check.h>
#include <weft/result/put.h>

#include "call.h"

static json_t *row_of(const struct trace_set *set, const struct trace_row *row)
{
	json_t *to = json_object();
	bool is_collective = row->kind == TRACE_KIND_COLLECTIVE;
	put(to, "kind", json_string(trace_kind_name(row->kind)));
	if (is_collective) {
		put(to, "collective", json_string(trace_collective_name(row->collective)));
		put(to, "group", json_string(set->groups[row->group].name));
		put(to, "ranks",
		    set->groups[row->group].ranks == 0
			    ? json_null()
			    : json_integer(set->groups[row->group].ranks));
	}
	put_count(to, "bytes", row->bytes);
	put_count(to, "count", row->count);
	return to;
}

static json_t *files_of(const struct trace_set *set)
{
	json_t *list = json_array();
	uint32_t ranks = set->rank_count / set->file_count; // of each: 1, or all of a GOAL
	for (uint32_t i = 0; i < set->rank_count; i += ranks) {
		json_t *one = row_in(list);
		uint64_t records = 0, nodes = 0;
		for (uint32_t k = i; k < i + ranks; k++) {
			records += set->ranks[k].records;
			nodes += set->ranks[k].node_count;
		}
		put(one, "file", json_string_nocheck(set->ranks[i].path));
		put_count(one, "records", records);
		put_count(one, "nodes", nodes);
	}
	return list;
}

static json_t *kinds_of(const struct trace_count *count)
{
	json_t *to = json_object();
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		json_t *one = json_object();
		put_count(one, "count", count->kinds[kind]);
		put_count(one, "bytes", count->bytes[kind]);
		put(to, trace_kind_name(kind), one);
	}
	return to;
}

void json_print(FILE *to, const struct call *call)
{
	const struct trace_set *set = &call->set;
	const struct trace_count *count = &call->count;
	json_t *root = json_object(), *rows = json_array();
	put_count(root, "schema", 1);
	put(root, "format", json_string(trace_format_name(set->format)));
	put(root, "files", files_of(set));
	put(root, "world", set->world == 0 ? json_null() : json_integer(set->world));
	put_count(root, "records", count->records);
	put_count(root, "skipped", set->skipped);
	put_count(root, "nodes", count->nodes);
	put(root, "kinds", kinds_of(count));
	put_count(root, "dependencies", count->waits);
	put_count(root, "missing", count->missing);
	put_count(root, "circular", count->circular);
	put(root, "gathers_whole", json_boolean(set->gathers_whole));
	put(root, "compute_ps", set->has_times ? json_integer(count->compute_ps) : json_null());
	put(root, "communication_ps",
	    set->has_times && count->duration_ps > 0 ? json_integer(count->duration_ps)
						     : json_null());
	for (uint32_t i = 0; i < count->row_count; i++)
		check(json_array_append_new(rows, row_of(set, &count->rows[i])) == 0);
	put(root, "communications", rows);
	document_print(to, root, JSON_ENSURE_ASCII);
}
