// SPDX-License-Identifier: Apache-2.0
// The members of groups as JSON.

#include <weft/trace/trace_run.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As the group's list says; without one, who calls it.
static bool is_member(const struct trace_set *set, uint32_t number, uint32_t group)
{
	const struct trace_process_group *of = &set->groups[group];
	const struct trace_rank *rank = &set->ranks[number];
	for (uint32_t i = 0; i < of->member_count; i++)
		if (of->members[i] == number)
			return true;
	for (uint32_t i = 0; of->member_count == 0 && i < rank->node_count; i++)
		if (rank->nodes[i].kind == TRACE_KIND_COLLECTIVE && rank->nodes[i].group == group)
			return true;
	return false;
}

static void put_group(FILE *to, const struct trace_set *set, uint32_t group, bool is_first)
{
	const char *comma = "";
	fprintf(to, "%s\n  \"%s\": [", is_first ? "" : ",", set->groups[group].name);
	for (uint32_t rank = 0; rank < set->rank_count; rank++)
		if (is_member(set, rank, group)) {
			fprintf(to, "%s%u", comma, rank);
			comma = ", ";
		}
	fputc(']', to);
}

int trace_groups_text(char **ret_text, size_t *ret_bytes, const struct trace_set *set)
{
	FILE *to = open_memstream(ret_text, ret_bytes);
	bool is_first = true;
	if (to == NULL)
		return -ENOMEM;
	fputc('{', to);
	for (uint32_t i = 0; i < set->group_count; i++)
		if (strcmp(set->groups[i].name, "all") != 0) {
			put_group(to, set, i, is_first);
			is_first = false;
		}
	fputs(is_first ? "}\n" : "\n}\n", to);
	if (fclose(to) == 0)
		return 0;
	free(*ret_text);
	return -ENOMEM;
}
