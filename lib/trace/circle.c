// SPDX-License-Identifier: Apache-2.0
// Circles by a search in depth, in the order of the file: a wait for a node that is still being
// gone through leads back.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/trace/trace.h>

#include "expand.h"

#define NAMED_MAX 8 // nodes of a circle that a refusal names

enum state { STATE_NEW, STATE_OPEN, STATE_DONE };

struct search {
	struct trace_rank *rank;
	uint8_t *states; // [nodes] enum state
	uint32_t *path;	 // nodes that are open, the last one in hand
	uint32_t *next;	 // [nodes] wait of each that comes next
	uint32_t depth;
	bool cuts;	    // go on behind each wait that leads back
	uint32_t *back;	    // the one that was found
	uint32_t back_node; // that it waits for
};

static int search_begin(struct search *search, struct trace_rank *rank, bool cuts)
{
	size_t count = (size_t)rank->node_count + 1;
	*search = (struct search){.rank = rank, .cuts = cuts};
	search->states = calloc(count, sizeof(*search->states));
	search->path = calloc(count, sizeof(*search->path));
	search->next = calloc(count, sizeof(*search->next));
	return search->states == NULL || search->path == NULL || search->next == NULL ? -ENOMEM : 0;
}

static void search_end(struct search *search)
{
	free(search->states);
	free(search->path);
	free(search->next);
}

static void open_node(struct search *search, uint32_t node)
{
	search->states[node] = STATE_OPEN;
	search->path[search->depth++] = node;
}

// One wait of the node in hand. True when it leads back and the search ends there.
static bool step(struct search *search)
{
	uint32_t node = search->path[search->depth - 1];
	const struct trace_node *of = &search->rank->nodes[node];
	if (search->next[node] == of->wait_count) {
		search->states[node] = STATE_DONE;
		search->depth--;
		return false;
	}
	uint32_t *wait = &search->rank->waits[of->wait_first + search->next[node]++];
	if (*wait == TRACE_NONE_WAITED || search->states[*wait] == STATE_DONE)
		return false;
	if (search->states[*wait] == STATE_NEW) {
		open_node(search, *wait);
		return false;
	}
	search->back = wait;
	search->back_node = *wait;
	if (search->cuts) {
		*wait = TRACE_NONE_WAITED;
		search->rank->cut++;
	}
	return !search->cuts;
}

// Goes through all nodes, or to the first circle.
static bool search_run(struct search *search)
{
	bool is_found = false;
	for (uint32_t i = 0; i < search->rank->node_count && !is_found; i++) {
		if (search->states[i] == STATE_NEW)
			open_node(search, i);
		while (search->depth > 0 && !is_found)
			is_found = step(search);
	}
	return is_found;
}

static size_t put_node(char *to, size_t room, const struct trace_node *node)
{
	int length = snprintf(to, room, "%llu%s%.24s%s", (unsigned long long)node->id,
			      node->name[0] == '\0' ? "" : " (", node->name,
			      node->name[0] == '\0' ? "" : ")");
	return (size_t)length < room ? (size_t)length : room;
}

// "node 3 (a) waits for 5 (b), which waits for 3 (a)".
static void name_circle(const struct search *search, char *to, size_t room)
{
	const struct trace_node *nodes = search->rank->nodes;
	uint32_t first = 0, count;
	while (search->path[first] != search->back_node)
		first++;
	count = search->depth - first;
	size_t used = (size_t)snprintf(to, room, "node ");
	for (uint32_t i = 0; i < count && i < NAMED_MAX && used < room; i++) {
		used += put_node(to + used, room - used, &nodes[search->path[first + i]]);
		if (used < room)
			used += (size_t)snprintf(to + used, room - used, "%s waits for ",
						 i == 0 ? "" : ", which");
	}
	if (count > NAMED_MAX && used < room)
		used += (size_t)snprintf(to + used, room - used, "%u more, the last of which for ",
					 count - NAMED_MAX);
	if (used < room)
		put_node(to + used, room - used, &nodes[search->back_node]);
}

// Refuses the rank's circles by the nodes of one of them: -EINVAL; -ENOMEM.
static int circle_refuse(const struct trace_rank *rank, struct refusal *refusal)
{
	struct search search;
	struct trace_rank same = *rank; // nothing of it is changed
	char circle[REFUSAL_TEXT_BYTES - 160];
	int rc = search_begin(&search, &same, false);
	if (rc < 0 || !search_run(&search)) {
		search_end(&search);
		return refuse(refusal, -ENOMEM, "no memory to look for circles");
	}
	name_circle(&search, circle, sizeof(circle));
	search_end(&search);
	snprintf(refusal->text, sizeof(refusal->text),
		 "%u of %u nodes wait in a circle, or for one: %s; traffic.cut_circles true leaves "
		 "a "
		 "wait of each circle out",
		 rank->circular, rank->node_count, circle);
	return -EINVAL;
}

// Takes a wait out of each circle: the one that leads back to a node that is being gone through, in
// the order of the file. Counts them in rank->cut. -ENOMEM.
static int circle_cut(struct trace_rank *rank, struct refusal *refusal)
{
	struct search search;
	int rc = search_begin(&search, rank, true);
	if (rc == 0)
		search_run(&search);
	search_end(&search);
	if (rc < 0)
		return refuse(refusal, rc, "no memory to look for circles");
	rank->circular = 0;
	return 0;
}

// Whether a set can be run at all: circles, nothing to send, more than memory holds.

int expand_check_memory(const struct expand *expand, uint64_t ops, uint64_t bytes)
{
	uint64_t most = expand->run->memory_bytes_max;
	if (most == 0 || bytes <= most)
		return 0;
	return refuse(
		expand->refusal, -EINVAL,
		"the trace makes % operations of % ranks, which take % MiB, but limits.memory "
		"is % MiB: raise it, or run a sample or fewer ranks",
		(int64_t)ops, expand->ranks, (int64_t)(bytes >> 20), (int64_t)(most >> 20));
}

// Before any work: what the nodes alone become, each an operation at least.
static int check_nodes(const struct expand *expand)
{
	const struct trace_set *set = expand->set;
	uint64_t ops = 0, ranks = set->rank_count == 1 ? expand->ranks : 1;
	for (uint32_t i = 0; i < set->rank_count; i++)
		for (uint32_t k = 0; k < set->ranks[i].node_count; k++)
			ops += ranks *
				(set->ranks[i].nodes[k].kind >= TRACE_KIND_COMPUTE &&
				 set->ranks[i].nodes[k].kind <= TRACE_KIND_COLLECTIVE);
	return expand_check_memory(expand, ops, ops * (sizeof(struct op) + sizeof(uint32_t)));
}

int expand_check(const struct expand *expand)
{
	const struct trace_set *set = expand->set;
	uint64_t communications = 0;
	for (uint32_t i = 0; i < set->rank_count; i++) {
		struct trace_rank *rank = &set->ranks[i];
		memcpy(expand->refusal->file, rank->path, sizeof(rank->path));
		int rc = rank->circular == 0	    ? 0
			: expand->run->cuts_circles ? circle_cut(rank, expand->refusal)
						    : circle_refuse(rank, expand->refusal);
		if (rc < 0)
			return rc;
		for (uint32_t k = 0; k < rank->node_count; k++)
			communications += rank->nodes[k].kind == TRACE_KIND_COLLECTIVE ||
				rank->nodes[k].kind == TRACE_KIND_SEND;
	}
	if (communications == 0)
		return refuse(expand->refusal, -EINVAL,
			      "the trace has no communication: there is nothing to run");
	if (set->left_bytes > 0)
		return refuse(
			expand->refusal, -EINVAL,
			"its pipeline transfers of % bytes stand in no line: a sample runs the "
			"data-parallel collectives without them (--sample steps=4, say)",
			(int64_t)set->left_bytes);
	expand->refusal->file[0] = '\0';
	return check_nodes(expand);
}
