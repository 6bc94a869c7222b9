// SPDX-License-Identifier: Apache-2.0
// The table of a workload file's collectives.

#include "run_parts.h"

#define ROWS_MAX 256

struct row {
	const struct trace_entry *first;
	uint64_t count;
};

static bool is_same(const struct trace_entry *a, const struct trace_entry *b)
{
	return a->comm == b->comm && a->group == b->group && a->column == b->column &&
		a->bytes == b->bytes;
}

// Adds up equal entries; returns how many rows there are, at most ROWS_MAX, the rest in *ret_more.
static uint32_t add_up(const struct trace *trace, struct row *rows, uint64_t *ret_more)
{
	uint32_t count = 0;
	*ret_more = 0;
	for (uint32_t i = 0; i < trace->entry_count; i++) {
		uint32_t row = 0;
		while (row < count && !is_same(rows[row].first, &trace->entries[i]))
			row++;
		if (row == ROWS_MAX) {
			++*ret_more;
			continue;
		}
		if (row == count)
			rows[count++] = (struct row){&trace->entries[i], 0};
		rows[row].count++;
	}
	return count;
}

static bool is_run(const struct trace_entry *entry)
{
	return (entry->group == TRACE_GROUP_DP || entry->group == TRACE_GROUP_DP_EP) &&
		entry->comm != TRACE_ALLTOALL && entry->comm != TRACE_BROADCAST;
}

void traces_table(FILE *to, const struct world *world)
{
	static const char *const phases[] = {"forward", "input grad", "weight grad"};
	struct row rows[ROWS_MAX];
	uint64_t more;
	const struct trace *trace = &world->trace;
	uint32_t count = add_up(trace, rows, &more);
	fprintf(to, "Workload file: %u GPUs, tp %u, ep %u, pp %u, vpp %u, ga %u, %u layers\n\n",
		trace->gpus, trace->tp, trace->ep, trace->pp, trace->vpp, trace->ga,
		trace->layer_count);
	fprintf(to, "  %-15s %-6s %-12s %16s %8s  %s\n", "collective", "group", "phase", "bytes",
		"count", "here");
	for (uint32_t i = 0; i < count; i++) {
		const struct trace_entry *entry = rows[i].first;
		fprintf(to, "  %-15s %-6s %-12s %16llu %8llu  %s\n", trace_comm_name(entry->comm),
			trace_group_name(entry->group), phases[entry->column],
			(unsigned long long)entry->bytes, (unsigned long long)rows[i].count,
			is_run(entry) ? "data parallel: sampled" : "left out: --sample off");
	}
	if (more > 0)
		fprintf(to, "  and %llu collectives of further sizes, left out\n",
			(unsigned long long)more);
	if (trace->pp_bytes > 0)
		fprintf(to, "  pipeline transfers of %llu bytes: left out\n",
			(unsigned long long)trace->pp_bytes);
	fprintf(to,
		"  compute times: left out; the collectives are released in the order of the "
		"file\n\n");
}
