// SPDX-License-Identifier: Apache-2.0
// Traces that do not say what waits for what: Kineto has times, PyTorch's execution trace has the
// order in which the host called. Both become one line of collectives, each after the gap that the
// file shows between the end of the last and its begin (none where they overlapped, or without
// times), and after the last one the time until the file's end.

#include <weft/core/order.h>
#include <weft/trace/trace_run.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "set.h"

struct line {
	struct trace_node *nodes;
	uint32_t count;
};

static int by_begin(const void *a, const void *b)
{
	const struct trace_node *first = a, *second = b;
	return ORDER(first->start_ps, second->start_ps) ?: ORDER(first->id, second->id);
}

static void add(struct line *line, struct trace_node node)
{
	node.id = line->count;
	node.wait_first = line->count == 0 ? 0 : line->count - 1;
	node.wait_count = line->count > 0;
	line->nodes[line->count++] = node;
}

static void add_gap(struct line *line, ps_t gap_ps)
{
	struct trace_node gap = {.kind = TRACE_KIND_COMPUTE, .duration_ps = gap_ps};
	strcpy(gap.name, "gap");
	if (gap_ps > 0)
		add(line, gap);
}

static ps_t end_of(const struct trace_node *node)
{
	return node->start_ps + node->duration_ps;
}

static void fill(struct line *line, const struct trace_rank *rank)
{
	ps_t reached = 0, end = 0;
	for (uint32_t i = 0; i < rank->node_count; i++) {
		const struct trace_node *node = &rank->nodes[i];
		end = ps_max(end, end_of(node));
		if (node->kind != TRACE_KIND_COLLECTIVE && node->kind != TRACE_KIND_SEND &&
		    node->kind != TRACE_KIND_RECEIVE)
			continue;
		add_gap(line, node->start_ps - reached);
		add(line, *node);
		reached = ps_max(reached, end_of(node));
	}
	add_gap(line, end - reached);
}

// Takes the place of what the rank had. Each node waits for the one before it.
static void take_line(struct trace_rank *rank, const struct line *line, uint32_t *waits,
		      uint64_t *wait_ids)
{
	for (uint32_t i = 1; i < line->count; i++)
		wait_ids[i - 1] = waits[i - 1] = i - 1;
	free(rank->nodes);
	free(rank->waits);
	free(rank->wait_ids);
	rank->nodes = line->nodes;
	rank->node_count = line->count;
	rank->waits = waits;
	rank->wait_ids = wait_ids;
	rank->wait_count = line->count == 0 ? 0 : line->count - 1;
	rank->missing = rank->circular = 0;
}

static int line_up_rank(struct trace_rank *rank)
{
	size_t room = 2 * (size_t)rank->node_count + 1;
	struct line line = {calloc(room, sizeof(*line.nodes)), 0};
	uint32_t *waits = calloc(room, sizeof(*waits));
	uint64_t *wait_ids = calloc(room, sizeof(*wait_ids));
	if (line.nodes == NULL || waits == NULL || wait_ids == NULL) {
		free(line.nodes);
		free(waits);
		free(wait_ids);
		return -ENOMEM;
	}
	if (rank->node_count > 0)
		qsort(rank->nodes, rank->node_count, sizeof(*rank->nodes), by_begin);
	fill(&line, rank);
	take_line(rank, &line, waits, wait_ids);
	return 0;
}

int trace_line_up(struct trace_set *set, struct refusal *refusal)
{
	int rc = trace_file_rank(set, refusal);
	if (rc < 0 || set->is_lined_up ||
	    (set->format != TRACE_FORMAT_KINETO && set->format != TRACE_FORMAT_PYTORCH))
		return rc;
	set->is_lined_up = true;
	for (uint32_t i = 0; i < set->rank_count; i++)
		if (line_up_rank(&set->ranks[i]) < 0)
			return refuse(refusal, -ENOMEM, "no memory to order the collectives");
	return 0;
}
