// SPDX-License-Identifier: Apache-2.0
// Nodes in memory that grows.

#include "set.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/trace/trace_run.h>

#define NODES_MAX (1u << 27)
#define FILES_MAX 1048576u

static const char *const kind_names[] = {"other",   "compute",	  "send",
					 "receive", "collective", "call"};
_Static_assert(sizeof(kind_names) / sizeof(*kind_names) == TRACE_KIND_COUNT, "a name for each");

static const char *const collective_names[] = {
	"all_reduce", "reduce",		"all_gather",		"gather", "scatter", "broadcast",
	"all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"};
_Static_assert(sizeof(collective_names) / sizeof(*collective_names) == TRACE_COLLECTIVE_COUNT,
	       "a name for each");

const char *trace_kind_name(enum trace_kind kind)
{
	check((unsigned)kind < TRACE_KIND_COUNT);
	return kind_names[kind];
}

const char *trace_collective_name(enum trace_collective collective)
{
	check((unsigned)collective < TRACE_COLLECTIVE_COUNT);
	return collective_names[collective];
}

// ---------------------------------------------------------------- memory

bool input_grow(void **at, uint32_t count, uint32_t *max, size_t bytes)
{
	if (count < *max)
		return true;
	uint32_t more = *max < 64 ? 64 : *max * 2;
	void *moved = realloc(*at, more * bytes);
	if (moved == NULL)
		return false;
	*at = moved;
	*max = more;
	return true;
}

void trace_set_init(struct trace_set *set, enum trace_format format)
{
	*set = (struct trace_set){.format = format};
}

void trace_set_free(struct trace_set *set)
{
	for (uint32_t i = 0; i < set->rank_count; i++) {
		free(set->ranks[i].nodes);
		free(set->ranks[i].wait_ids);
		free(set->ranks[i].waits);
		free(set->ranks[i].splits);
	}
	for (uint32_t i = 0; i < set->group_count; i++)
		free(set->groups[i].members);
	free(set->ranks);
	free(set->groups);
	trace_set_init(set, set->format);
}

struct trace_node *input_node(struct trace_input *input, uint64_t id, uint32_t place)
{
	struct trace_rank *rank = input->rank;
	void *nodes = rank->nodes;
	if (rank->node_count == NODES_MAX ||
	    !input_grow(&nodes, rank->node_count, &rank->node_max, sizeof(*rank->nodes)))
		return NULL;
	rank->nodes = nodes;
	struct trace_node *node = &rank->nodes[rank->node_count++];
	*node = (struct trace_node){.id = id, .place = place, .wait_first = rank->wait_count};
	return node;
}

int input_wait(struct trace_input *input, uint64_t id)
{
	struct trace_rank *rank = input->rank;
	void *ids = rank->wait_ids;
	if (rank->wait_count == NODES_MAX ||
	    !input_grow(&ids, rank->wait_count, &rank->wait_max, sizeof(*rank->wait_ids)))
		return input_no_memory(input);
	rank->wait_ids = ids;
	rank->wait_ids[rank->wait_count++] = id;
	rank->nodes[rank->node_count - 1].wait_count++;
	return 0;
}

void input_copy(char *to, size_t size, const char *text, size_t length)
{
	size_t count = length < size - 1 ? length : size - 1;
	for (size_t i = 0; i < count; i++)
		to[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
	to[count] = '\0';
}

void node_name(struct trace_node *node, const char *text, size_t length)
{
	input_copy(node->name, sizeof(node->name), text, length);
}

// ---------------------------------------------------------------- values

int micros_ps(double micros, ps_t *ret)
{
	if (!(micros >= 0 && micros < (double)INT64_MAX / PS_PER_US))
		return -ERANGE;
	*ret = llround(micros * PS_PER_US);
	return 0;
}

// Letters of `name` alone, small, without the words that say how it was called.
static void plain(char *to, size_t size, const char *name)
{
	static const char *const endings[] = {"coalesced", "base", "intotensor", "tensor",
					      "single",	   "v",	   NULL};
	size_t count = 0;
	for (; *name != '\0' && count + 1 < size; name++)
		if (*name >= 'A' && *name <= 'Z')
			to[count++] = (char)(*name - 'A' + 'a');
		else if (*name != '_' && *name != ' ')
			to[count++] = *name;
	to[count] = '\0';
	for (unsigned i = 0; endings[i] != NULL; i++) {
		size_t length = strlen(endings[i]);
		if (count > length && strcmp(to + count - length, endings[i]) == 0)
			to[count -= length] = '\0';
	}
}

enum trace_collective collective_find(const char *name)
{
	static const char *const names[TRACE_COLLECTIVE_COUNT] = {
		"allreduce", "reduce",	      "allgather",
		"gather",    "scatter",	      "broadcast",
		"alltoall",  "reducescatter", "reducescatterblock",
		"barrier"};
	char letters[32];
	unsigned i = 0;
	plain(letters, sizeof(letters), name);
	while (i < TRACE_COLLECTIVE_COUNT && strcmp(letters, names[i]) != 0)
		i++;
	return (enum trace_collective)i;
}

// ---------------------------------------------------------------- refusals

int input_refuse(const struct trace_input *input, uint32_t line, const char *text, int64_t first,
		 int64_t second)
{
	input->refusal->line = line;
	input->refusal->column = 0;
	return refuse(input->refusal, -EINVAL, text, first, second);
}

int input_no_memory(const struct trace_input *input)
{
	return refuse(input->refusal, -ENODEV, "not enough memory for more nodes");
}

// ---------------------------------------------------------------- a file

struct input_mark input_mark(const struct trace_input *input)
{
	const struct trace_rank *rank = input->rank;
	return (struct input_mark){rank->node_count, rank->wait_count, rank->split_count};
}

int input_settle(struct trace_input *input, struct input_mark mark, int rc)
{
	struct trace_set *set = input->set;
	struct trace_rank *rank = input->rank;
	if (rc != -EINVAL || !set->skips_damaged)
		return rc;
	rank->node_count = mark.nodes;
	rank->wait_count = mark.waits;
	rank->split_count = mark.splits;
	if (set->skipped++ == 0) {
		set->first_skipped = *input->refusal;
		snprintf(set->first_skipped.file, sizeof(set->first_skipped.file), "%s",
			 rank->path);
	}
	*input->refusal = (struct refusal){0};
	return 0;
}

static int add_rank(struct trace_set *set, struct trace_input *input, const char *path)
{
	void *ranks = set->ranks;
	if (set->rank_count == FILES_MAX ||
	    !input_grow(&ranks, set->rank_count, &set->rank_max, sizeof(*set->ranks)))
		return refuse(input->refusal, -ENODEV, "no memory for % files", set->rank_count);
	set->ranks = ranks;
	input->rank = &set->ranks[set->rank_count++];
	*input->rank = (struct trace_rank){0};
	snprintf(input->rank->path, sizeof(input->rank->path), "%s", path);
	if (set->format == TRACE_FORMAT_CHAKRA || set->format == TRACE_FORMAT_CHAKRA_JSON)
		input->rank->has_number = trace_file_rank_number(path, &input->rank->number);
	return 0;
}

int trace_set_add(struct trace_set *set, const char *path, const char *text, size_t bytes,
		  struct refusal *refusal)
{
	static trace_reader *const readers[TRACE_FORMAT_COUNT] = {
		trace_read_chakra, trace_read_chakra_json, trace_read_pytorch,
		trace_read_kineto, trace_read_simai,	   trace_read_simai,
		trace_read_simai,  trace_read_aicb,	   trace_read_goal,
	};
	struct trace_input input = {.set = set, .text = text, .bytes = bytes, .refusal = refusal};
	*refusal = (struct refusal){0};
	uint32_t first = set->rank_count;
	bool has_records = set->format <= TRACE_FORMAT_KINETO ||
		set->format == TRACE_FORMAT_AICB_CSV;
	int rc = add_rank(set, &input, path);
	if (rc == 0 && set->skips_damaged && !has_records)
		rc = input_refuse(&input, 0, "no record of this format can be left out", 0, 0);
	if (rc == 0)
		rc = readers[set->format](&input);
	for (uint32_t rank = first; rc == 0 && rank < set->rank_count; rank++) {
		input.rank = &set->ranks[rank];
		rc = trace_wait_resolve(&input);
	}
	set->file_count += rc == 0;
	if (rc < 0)
		refusal_name(refusal, path);
	return rc;
}

uint32_t trace_ranks(const struct trace_set *set)
{
	return set->rank_count > 1 ? set->rank_count : set->world;
}
