// SPDX-License-Identifier: Apache-2.0
// What is in a set: nodes by kind, communications by kind, group and size.

#include <errno.h>
#include <stdlib.h>

#include <weft/trace/trace.h>

static bool is_counted(const struct trace_node *node)
{
	return node->kind == TRACE_KIND_SEND || node->kind == TRACE_KIND_RECEIVE ||
		node->kind == TRACE_KIND_COLLECTIVE;
}

static bool is_same(const struct trace_row *row, const struct trace_node *node)
{
	return row->kind == node->kind && row->collective == node->collective &&
		row->group == node->group && row->bytes == node->bytes;
}

static int add_row(struct trace_count *to, const struct trace_node *node, uint32_t *max)
{
	uint32_t i = 0;
	while (i < to->row_count && !is_same(&to->rows[i], node))
		i++;
	if (i == to->row_count && i == *max) {
		uint32_t more = *max == 0 ? 64 : *max * 2;
		void *rows = realloc(to->rows, more * sizeof(*to->rows));
		if (rows == NULL)
			return -ENOMEM;
		to->rows = rows;
		*max = more;
	}
	if (i == to->row_count)
		to->rows[to->row_count++] = (struct trace_row){node->kind, node->collective,
							       node->group, node->bytes, 0};
	to->rows[i].count++;
	return 0;
}

static int count_rank(struct trace_count *to, const struct trace_rank *rank, uint32_t *max)
{
	to->records += rank->records;
	to->nodes += rank->node_count;
	to->waits += rank->wait_count;
	to->missing += rank->missing;
	to->circular += rank->circular;
	for (uint32_t i = 0; i < rank->node_count; i++) {
		const struct trace_node *node = &rank->nodes[i];
		to->kinds[node->kind]++;
		to->bytes[node->kind] += node->bytes;
		if (node->kind == TRACE_KIND_COMPUTE)
			to->compute_ps += node->duration_ps;
		if (!is_counted(node))
			continue;
		to->duration_ps += node->duration_ps;
		if (add_row(to, node, max) < 0)
			return -ENOMEM;
	}
	return 0;
}

int trace_count(struct trace_count *ret, const struct trace_set *set)
{
	uint32_t max = 0;
	*ret = (struct trace_count){0};
	for (uint32_t i = 0; i < set->rank_count; i++)
		if (count_rank(ret, &set->ranks[i], &max) < 0) {
			trace_count_free(ret);
			return -ENOMEM;
		}
	return 0;
}

void trace_count_free(struct trace_count *count)
{
	free(count->rows);
	count->rows = NULL;
	count->row_count = 0;
}
