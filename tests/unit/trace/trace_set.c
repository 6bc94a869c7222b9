// SPDX-License-Identifier: Apache-2.0
// Sets of traces in memory: who waits for whom, circles, names of collectives, what is told by the
// first bytes, and a set that is written and read again, whatever its nodes are.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/rng.h>
#include <weft/trace/trace_run.h>

#include "set.h"

#define NODES 40u

static void nodes_in_circles_are_counted_with_those_that_wait_for_them(void **)
{
	struct trace_set set;
	trace_set_init(&set, TRACE_FORMAT_CHAKRA);
	assert_int_equal(trace_make_ranks(&set, 1), 0);
	// 0 <- 1 <-> 2 <- 3, and 4 alone: 1, 2 and 3 can never begin
	static const uint32_t waits[5][2] = {{9, 9}, {0, 2}, {1, 9}, {2, 9}, {9, 9}};
	for (unsigned i = 0; i < 5; i++) {
		assert_non_null(trace_make_node(&set, 0));
		for (unsigned k = 0; k < 2; k++)
			if (waits[i][k] != 9)
				assert_int_equal(trace_make_wait(&set, 0, waits[i][k]), 0);
	}
	assert_int_equal(trace_make_end(&set), 0);
	assert_int_equal(set.ranks[0].circular, 3);
	assert_int_equal(set.ranks[0].missing, 0);
	trace_set_free(&set);
}

// Random waits for earlier nodes alone never make a circle; one wait back makes one.
static void only_circles_are_circles(void **)
{
	struct rng rng = rng_of(7, RNG_TEST, 0);
	for (unsigned round = 0; round < 200; round++) {
		struct trace_set set;
		trace_set_init(&set, TRACE_FORMAT_CHAKRA);
		assert_int_equal(trace_make_ranks(&set, 1), 0);
		for (uint32_t i = 0; i < NODES; i++) {
			assert_non_null(trace_make_node(&set, 0));
			if (i > 0) // all hang together
				assert_int_equal(trace_make_wait(&set, 0, rng_below(&rng, i)), 0);
		}
		bool is_circle = round % 2 == 1;
		if (is_circle) {
			// the first waits for the last one, and that one, over others, for the
			// first
			set.ranks[0].nodes[0].wait_first = set.ranks[0].wait_count;
			struct refusal refusal;
			struct trace_input input = {&set, &set.ranks[0], NULL, 0, &refusal};
			assert_int_equal(input_wait(&input, NODES - 1), 0);
			set.ranks[0].nodes[NODES - 1].wait_count--; // it went to the last node
			set.ranks[0].nodes[0].wait_count = 1;
		}
		assert_int_equal(trace_make_end(&set), 0);
		assert_int_equal(set.ranks[0].circular > 0, is_circle);
		trace_set_free(&set);
	}
}

static void collectives_are_known_by_all_their_names(void **)
{
	static const struct {
		const char *name;
		enum trace_collective collective;
	} names[] = {
		{"allreduce", TRACE_COLLECTIVE_ALL_REDUCE},
		{"all_reduce", TRACE_COLLECTIVE_ALL_REDUCE},
		{"allreduce_coalesced", TRACE_COLLECTIVE_ALL_REDUCE},
		{"_allgather_base", TRACE_COLLECTIVE_ALL_GATHER},
		{"all_gather_into_tensor", TRACE_COLLECTIVE_ALL_GATHER},
		{"_reduce_scatter_base", TRACE_COLLECTIVE_REDUCE_SCATTER},
		{"reduce_scatter_tensor", TRACE_COLLECTIVE_REDUCE_SCATTER},
		{"all_to_allv", TRACE_COLLECTIVE_ALL_TO_ALL},
		{"all_to_all_single", TRACE_COLLECTIVE_ALL_TO_ALL},
		{"broadcast", TRACE_COLLECTIVE_BROADCAST},
		{"barrier", TRACE_COLLECTIVE_BARRIER},
		{"send", TRACE_COLLECTIVE_COUNT},
		{"", TRACE_COLLECTIVE_COUNT},
		{"a name that is much longer than any collective's", TRACE_COLLECTIVE_COUNT},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(collective_find(names[i].name), names[i].collective);
}

static void times_that_are_none_are_refused(void **)
{
	ps_t ps;
	assert_int_equal(micros_ps(1.5, &ps), 0);
	assert_int_equal(ps, 1500000);
	assert_int_equal(micros_ps(0, &ps), 0);
	assert_int_equal(micros_ps(-1, &ps), -ERANGE);
	assert_int_equal(micros_ps(1e300, &ps), -ERANGE);
	assert_int_equal(micros_ps(9.3e12, &ps), -ERANGE);
}

static void a_group_is_one_when_name_size_and_distance_are(void **)
{
	struct trace_set set;
	uint32_t group, again;
	trace_set_init(&set, TRACE_FORMAT_CHAKRA);
	assert_int_equal(trace_make_group(&set, "0", NULL, 2, &group), 0);
	assert_int_equal(trace_make_group(&set, "0", NULL, 2, &again), 0);
	assert_int_equal(again, group);
	assert_int_equal(trace_make_group(&set, "0", NULL, 4, &again), 0);
	assert_int_not_equal(again, group);
	assert_int_equal(trace_make_group(&set, "1", NULL, 2, &again), 0);
	assert_int_equal(set.group_count, 3);
	trace_set_free(&set);
}

// ---------------------------------------------------------------- written and read

// A node of any kind, with values from the dice.
static void random_node(struct trace_set *set, struct rng *rng, uint32_t group)
{
	struct trace_node *node = trace_make_node(set, 0);
	assert_non_null(node);
	uint32_t index = set->ranks[0].node_count - 1;
	node->kind = (uint8_t)rng_below(rng, TRACE_KIND_COUNT);
	node->stream = rng_below(rng, 3);
	node->duration_ps = rng_below(rng, 1u << 30);
	if (rng_below(rng, 2) == 0)
		node->duration_ps = 0;
	node->is_host = node->kind == TRACE_KIND_CALL;
	if (node->kind == TRACE_KIND_SEND || node->kind == TRACE_KIND_RECEIVE) {
		node->peer = rng_below(rng, 1u << 20);
		node->tag = rng_below(rng, 1u << 30);
		node->bytes = 1 + rng_below(rng, 1u << 30);
	}
	if (node->kind == TRACE_KIND_COLLECTIVE) {
		node->collective = (uint8_t)rng_below(rng, TRACE_COLLECTIVE_COUNT);
		node->bytes = rng_below(rng, 1u << 30);
		node->group = group;
	}
	strcpy(node->name, "a node");
	if (index > 0)
		assert_int_equal(trace_make_wait(set, 0, rng_below(rng, index)), 0);
}

static void check_same(const struct trace_set *made, const struct trace_set *read)
{
	const struct trace_rank *a = &made->ranks[0], *b = &read->ranks[0];
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->wait_count, b->wait_count);
	assert_int_equal(b->records, b->node_count + 1);
	for (uint32_t i = 0; i < a->node_count; i++) {
		const struct trace_node *x = &a->nodes[i], *y = &b->nodes[i];
		assert_int_equal(x->id, y->id);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->duration_ps, y->duration_ps);
		assert_int_equal(x->stream, y->stream);
		assert_int_equal(x->is_host, y->is_host);
		assert_int_equal(x->bytes, y->bytes);
		assert_int_equal(x->peer, y->peer);
		assert_int_equal(x->tag, y->tag);
		assert_int_equal(x->collective, y->collective);
		assert_string_equal(x->name, y->name);
		if (x->kind == TRACE_KIND_COLLECTIVE)
			assert_string_equal(made->groups[x->group].name,
					    read->groups[y->group].name);
		assert_int_equal(x->wait_count, y->wait_count);
		for (uint32_t k = 0; k < x->wait_count; k++)
			assert_int_equal(a->waits[x->wait_first + k], b->waits[y->wait_first + k]);
	}
}

static void what_is_written_is_read_as_it_was(void **)
{
	struct rng rng = rng_of(3, RNG_TEST, 1);
	for (unsigned round = 0; round < 200; round++) {
		struct trace_set made, read;
		struct refusal refusal = {0};
		char *text;
		size_t bytes;
		uint32_t group;
		trace_set_init(&made, TRACE_FORMAT_CHAKRA);
		trace_set_init(&read, TRACE_FORMAT_CHAKRA);
		assert_int_equal(trace_make_ranks(&made, 1), 0);
		assert_int_equal(trace_make_group(&made, round % 2 ? "all" : "7", NULL, 0, &group),
				 0);
		for (uint32_t i = 0; i < NODES; i++)
			random_node(&made, &rng, group);
		assert_int_equal(trace_make_end(&made), 0);
		int rc = trace_chakra_text(&text, &bytes, &made, 0, &refusal);
		if (rc == -ENOTSUP) {
			trace_set_free(&made);
			print_message("skipped: this build has no protobuf-c\n");
			skip();
		}
		assert_int_equal(rc, 0);
		enum trace_format format;
		assert_int_equal(trace_recognise(&format, text, bytes, &refusal), 0);
		assert_int_equal(format, TRACE_FORMAT_CHAKRA);
		assert_int_equal(trace_set_add(&read, "made", text, bytes, &refusal), 0);
		check_same(&made, &read);
		free(text);
		trace_set_free(&made);
		trace_set_free(&read);
	}
}
