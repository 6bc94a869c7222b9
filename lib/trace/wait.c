// SPDX-License-Identifier: Apache-2.0
// Which node waits for which. Files name nodes by numbers of their own, some of which are not in
// the file (what was cut off when it was made), and some have circles: both are counted, so that a
// file can be looked at. Who runs it refuses circles.

#include "set.h"
#include <weft/core/order.h>

#include <stdlib.h>

struct entry {
	uint64_t id;
	uint32_t index;
};

static int compare(const void *a, const void *b)
{
	const struct entry *first = a, *second = b;
	return ORDER(first->id, second->id) ?: ORDER(first->index, second->index);
}

static uint32_t find(const struct entry *entries, uint32_t count, uint64_t id)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (entries[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && entries[low].id == id ? entries[low].index : TRACE_NONE_WAITED;
}

static int sort_entries(struct trace_input *input, struct entry *entries)
{
	struct trace_rank *rank = input->rank;
	for (uint32_t i = 0; i < rank->node_count; i++)
		entries[i] = (struct entry){rank->nodes[i].id, i};
	qsort(entries, rank->node_count, sizeof(*entries), compare);
	for (uint32_t i = 1; i < rank->node_count; i++)
		if (entries[i].id == entries[i - 1].id)
			return input_refuse(input, 0, "records % and % have one id",
					    rank->nodes[entries[i - 1].index].place,
					    rank->nodes[entries[i].index].place);
	return 0;
}

// Who waits for whom the other way round: followers of node i are order[first[i] .. first[i + 1]).
static void turn_round(const struct trace_rank *rank, uint32_t *first, uint32_t *followers)
{
	for (uint32_t i = 0; i < rank->wait_count; i++)
		if (rank->waits[i] != TRACE_NONE_WAITED)
			first[rank->waits[i] + 1]++;
	for (uint32_t i = 0; i < rank->node_count; i++)
		first[i + 1] += first[i];
	for (uint32_t i = rank->node_count; i-- > 0;)
		for (uint32_t k = 0; k < rank->nodes[i].wait_count; k++) {
			uint32_t before = rank->waits[rank->nodes[i].wait_first + k];
			if (before != TRACE_NONE_WAITED)
				followers[--first[before + 1]] = i;
		}
}

// Takes away nodes that wait for nothing until none is left; what remains is in circles.
static uint32_t circular(const struct trace_rank *rank, const uint32_t *first,
			 const uint32_t *followers, uint32_t *left, uint32_t *ready)
{
	uint32_t count = 0, done = 0;
	for (uint32_t i = 0; i < rank->node_count; i++) {
		for (uint32_t k = 0; k < rank->nodes[i].wait_count; k++)
			left[i] += rank->waits[rank->nodes[i].wait_first + k] != TRACE_NONE_WAITED;
		if (left[i] == 0)
			ready[count++] = i;
	}
	while (done < count) {
		uint32_t node = ready[done++];
		for (uint32_t k = first[node + 1]; k < first[node + 2]; k++)
			if (--left[followers[k]] == 0)
				ready[count++] = followers[k];
	}
	return rank->node_count - done;
}

static int count_circular(struct trace_input *input)
{
	struct trace_rank *rank = input->rank;
	// first[] is shifted by one while it is filled: of node i it ends up at [i + 1]
	uint32_t *first = calloc((size_t)rank->node_count + 2, sizeof(*first));
	uint32_t *followers = calloc((size_t)rank->wait_count + 1, sizeof(*followers));
	uint32_t *left = calloc((size_t)rank->node_count + 1, sizeof(*left));
	uint32_t *ready = calloc((size_t)rank->node_count + 1, sizeof(*ready));
	int rc = 0;
	if (first == NULL || followers == NULL || left == NULL || ready == NULL) {
		rc = input_no_memory(input);
	} else {
		turn_round(rank, first, followers);
		first[rank->node_count + 1] = rank->wait_count - rank->missing;
		rank->circular = circular(rank, first, followers, left, ready);
	}
	free(first);
	free(followers);
	free(left);
	free(ready);
	return rc;
}

int trace_wait_resolve(struct trace_input *input)
{
	struct trace_rank *rank = input->rank;
	struct entry *entries = calloc((size_t)rank->node_count + 1, sizeof(*entries));
	rank->waits = calloc((size_t)rank->wait_count + 1, sizeof(*rank->waits));
	if (entries == NULL || rank->waits == NULL) {
		free(entries);
		return input_no_memory(input);
	}
	int rc = sort_entries(input, entries);
	for (uint32_t i = 0; rc == 0 && i < rank->wait_count; i++) {
		rank->waits[i] = find(entries, rank->node_count, rank->wait_ids[i]);
		rank->missing += rank->waits[i] == TRACE_NONE_WAITED;
	}
	free(entries);
	return rc == 0 ? count_circular(input) : rc;
}
