// SPDX-License-Identifier: Apache-2.0
// What is in a trace, as a table.

#include "call.h"

#define ROWS_SHOWN 40u

static double seconds(ps_t ps)
{
	return (double)ps / (double)PS_PER_S;
}

static void row_print(FILE *to, const struct trace_set *set, const struct trace_row *row)
{
	bool is_collective = row->kind == TRACE_KIND_COLLECTIVE;
	const struct trace_process_group *group = is_collective ? &set->groups[row->group] : NULL;
	char ranks[16] = "-";
	if (group != NULL && group->ranks > 0)
		snprintf(ranks, sizeof(ranks), "%u", group->ranks);
	fprintf(to, "  %-20s %-16s %8s %16llu %10llu\n",
		is_collective ? trace_collective_name(row->collective) : trace_kind_name(row->kind),
		group == NULL ? "-" : group->name, ranks, (unsigned long long)row->bytes,
		(unsigned long long)row->count);
}

static void rows_print(FILE *to, const struct call *call)
{
	const struct trace_count *count = &call->count;
	if (count->row_count == 0) {
		fputs("\nNo communication.\n", to);
		return;
	}
	fprintf(to, "\n  %-20s %-16s %8s %16s %10s\n", "communication", "group", "ranks", "bytes",
		"count");
	for (uint32_t i = 0; i < count->row_count && i < ROWS_SHOWN; i++)
		row_print(to, &call->set, &count->rows[i]);
	if (count->row_count > ROWS_SHOWN)
		fprintf(to, "  and %u further kinds and sizes: --json has all\n",
			count->row_count - ROWS_SHOWN);
	if (count->kinds[TRACE_KIND_COLLECTIVE] == 0)
		return;
	if (call->set.gathers_whole)
		fputs("\nBytes are the whole buffer: what an all-gather gives to each rank.\n", to);
	else
		fputs("\nBytes are what one rank puts in: a part of what an all-gather gives.\n",
		      to);
}

void table_print(FILE *to, const struct call *call)
{
	const struct trace_set *set = &call->set;
	const struct trace_count *count = &call->count;
	fprintf(to, "Trace: %s, %u file%s, %llu records\n", trace_format_name(set->format),
		set->file_count, set->file_count == 1 ? "" : "s",
		(unsigned long long)count->records);
	if (set->skipped > 0)
		fprintf(to, "  damaged, left out      %12llu\n", (unsigned long long)set->skipped);
	if (set->world > 0)
		fprintf(to, "  ranks of the job       %12u\n", set->world);
	fprintf(to, "  nodes                  %12llu\n", (unsigned long long)count->nodes);
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (count->kinds[kind] > 0)
			fprintf(to, "    %-20s %12llu   %llu bytes\n", trace_kind_name(kind),
				(unsigned long long)count->kinds[kind],
				(unsigned long long)count->bytes[kind]);
	fprintf(to, "  dependencies           %12llu   %llu on nodes that are not in the file\n",
		(unsigned long long)count->waits, (unsigned long long)count->missing);
	if (count->circular > 0)
		fprintf(to,
			"  in circles             %12llu   nodes that wait for each other, or for "
			"such\n",
			(unsigned long long)count->circular);
	if (set->has_times && count->duration_ps > 0)
		fprintf(to, "  computation            %12.6f s, communication %.6f s, added up\n",
			seconds(count->compute_ps), seconds(count->duration_ps));
	else if (set->has_times)
		fprintf(to,
			"  computation            %12.6f s, added up; no times of communication\n",
			seconds(count->compute_ps));
	else
		fputs("  computation            not in the file\n", to);
	rows_print(to, call);
}
