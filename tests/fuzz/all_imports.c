// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of htsim, a traffic matrix and a topology: what is read can run to its end,
// or it is refused with a reason and a place.

#include "target.h"

#include <errno.h>

#include <weft/core/refusal.h>
#include <weft/fabric/fabric.h>
#include <weft/workload/workload.h>

#define MEMORY_BYTES ((size_t)4 << 20)

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"Nodes 8\nConnections 7\nTriggers 3\nFailures 0\n# a remark\n"
	"0->1 id 1 start 0 size 4096 send_done_trigger 1\n"
	"1->2 id 2 trigger 1 size 70000 recv_done_trigger 2 send_done_trigger 2\n"
	"3->4 id 3 trigger 2 size 1\n5->6 trigger 3 size 9\n6->7 trigger 3 size 9\n"
	"0->3 start 1 size 9 send_done_trigger 3\n0->4 start 2 size 9 send_done_trigger 3\n"
	"trigger id 1 oneshot\ntrigger id 2 barrier count 2\ntrigger id 3 multishot\n",
	"Nodes 32\nTiers 3\nPodsize 8\nTier 0\n Downlink_speed_Gbps 100\n Radix_Down 4\n Radix_Up "
	"2\n Downlink_Latency_ns 500\n Oversubscribed 2\nTier 1\n Downlink_speed_Gbps 100\n "
	"Radix_Down 2\n Radix_Up 2\n Bundle 1\n Downlink_Latency_ns 500\n Switch_Latency_ns 9\n"
	"Tier 2\n Downlink_speed_Gbps 100\n Radix_Down 4\n Downlink_Latency_ns 500\n",
	NULL};
#endif

static _Alignas(64) uint8_t memory[MEMORY_BYTES];

static void check_refusal(int rc, const struct refusal *refusal, size_t bytes)
{
	if (rc == 0)
		return;
	check(rc == -EINVAL || rc == -ENOMEM);
	check(refusal->text[0] != '\0' && strchr(refusal->text, '\n') == NULL);
	check(rc == -ENOMEM || refusal->line > 0 || bytes == 0);
}

// Fires a trigger once; returns how many flows more have begun.
static uint32_t fire(struct matrix *matrix, uint32_t number, uint32_t *order, uint32_t count)
{
	struct trigger *trigger = number > 0 ? &matrix->triggers[number - 1] : NULL;
	if (trigger == NULL || trigger->first == 0)
		return count;
	bool is_one = trigger->kind == TRIGGER_MULTISHOT;
	if (!is_one && ++trigger->fired != trigger->needed)
		return count;
	uint32_t at = trigger->first;
	for (; at > 0 && (!is_one || at == trigger->first); at = matrix->flows[at - 1].next)
		order[count++] = at - 1;
	if (is_one)
		trigger->first = at;
	return count;
}

// The latest that began ends first: every flow begins all the same.
static void check_begins(struct matrix *matrix, struct arena *arena)
{
	uint32_t *order = arena_draw(arena, ARENA_WORKLOAD, matrix->flow_count, sizeof(*order));
	uint32_t count = 0, begun = 0;
	if (order == NULL)
		return;
	for (uint32_t i = 0; i < matrix->flow_count; i++)
		if (matrix->flows[i].trigger == 0)
			order[count++] = i;
	while (count > 0) {
		const struct flow *flow = &matrix->flows[order[--count]];
		check(flow->from != flow->to && flow->from < matrix->nics &&
		      flow->to < matrix->nics && flow->bytes > 0);
		begun++;
		count = fire(matrix, flow->on_received, order, count);
		count = fire(matrix, flow->on_sent, order, count);
	}
	check(begun == matrix->flow_count);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	struct matrix matrix;
	struct tree_plan tree;
	struct arena arena;
	struct refusal refusal = {0}, of_tree = {0};
	char *text = malloc(bytes + (bytes == 0)); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	arena_init(&arena, memory, sizeof(memory));
	int rc = matrix_parse(&matrix, &arena, text, bytes, 1, &refusal);
	check_refusal(rc, &refusal, bytes);
	if (rc == 0)
		check_begins(&matrix, &arena);
	memset(memory, 0, arena.used); // an arena's memory is zeroed
	rc = tree_parse(&tree, text, bytes, &of_tree);
	check_refusal(rc, &of_tree, bytes);
	check(rc != 0 || (tree.nics > 0 && tree.tier[0].down > 0));
	free(text);
}
