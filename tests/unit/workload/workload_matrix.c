// SPDX-License-Identifier: Apache-2.0
// htsim's traffic matrices: real ones are read whole, and each damage is refused with its line and
// column. The real files are files of others (given.h).

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/workload.h>

#include "../../given.h"

static uint8_t memory[1 << 16] __attribute__((aligned(64)));
static ps_t unit_ps = 1;

static int parse_in(size_t room, struct matrix *matrix, const char *text, size_t bytes,
		    struct refusal *refusal)
{
	struct arena arena;
	memset(memory, 0, sizeof(memory));
	memset(refusal, 0, sizeof(*refusal));
	arena_init(&arena, memory, room);
	// an exact copy, so that the sanitizer sees a byte read past the end
	char *copy = malloc(bytes == 0 ? 1 : bytes);
	memcpy(copy, text, bytes);
	int rc = matrix_parse(matrix, &arena, copy, bytes, unit_ps, refusal);
	free(copy);
	return rc;
}

static int parse(struct matrix *matrix, const char *text, struct refusal *refusal)
{
	return parse_in(sizeof(memory), matrix, text, strlen(text), refusal);
}

static void assert_flow(const struct flow *flow, uint32_t from, uint32_t to, uint64_t bytes,
			ps_t start_ps)
{
	assert_int_equal(flow->from, from);
	assert_int_equal(flow->to, to);
	assert_int_equal(flow->bytes, bytes);
	assert_int_equal(flow->start_ps, start_ps);
}

static void starts_are_in_the_unit_that_is_said(void **)
{
	struct matrix matrix;
	struct refusal refusal;
	static const char none[] = "Nodes 4\nConnections 1\n0->1 start 0 size 1\n";
	static const char text[] =
		"Nodes 4\nConnections 2\n0->1 start 0 size 1\n0->2 start 1000 size 1\n";
	static const char late[] = "Nodes 4\nConnections 1\n0->1 start 1000000001 size 1\n";
	assert_int_equal(parse(&matrix, none, &refusal), 0);
	assert_false(matrix.has_starts);
	assert_int_equal(parse(&matrix, text, &refusal), 0);
	assert_true(matrix.has_starts);
	assert_flow(&matrix.flows[1], 0, 2, 1, 1000);
	unit_ps = PS_PER_US;
	assert_int_equal(parse(&matrix, text, &refusal), 0);
	assert_flow(&matrix.flows[1], 0, 2, 1, PS_PER_MS);
	assert_int_equal(parse(&matrix, late, &refusal), -EINVAL); // after the last time
	assert_int_equal(refusal.line, 3);
	unit_ps = 1;
	assert_int_equal(parse(&matrix, late, &refusal), 0);
}

static void connections_are_read_in_the_order_of_the_file(void **)
{
	struct matrix matrix;
	struct refusal refusal;
	static const char text[] = "Nodes 16\r\nConnections 3\n\n# a remark\n"
				   "3->15 id 1 start 0 size 2000000\n"
				   "  0->1  start 12 size 1\n"
				   "15->0 size 4294967295 start 1000000000000000 id 7";
	assert_int_equal(parse(&matrix, text, &refusal), 0);
	assert_int_equal(matrix.nics, 16);
	assert_int_equal(matrix.flow_count, 3);
	assert_flow(&matrix.flows[0], 3, 15, 2000000, 0);
	assert_flow(&matrix.flows[1], 0, 1, 1, 12);
	assert_flow(&matrix.flows[2], 15, 0, UINT32_MAX, 1000 * PS_PER_S);
}

static void damage_is_refused_with_its_place(void **)
{
	static const struct {
		const char *text;
		uint32_t line, column;
		const char *reason;
	} cases[] = {
		{"", 0, 0, "begins with `Nodes N`"},
		{"Knots 4\n", 1, 1, "begins with `Nodes N`"},
		{"Nodes\n", 1, 6, "a number is missing"},
		{"Nodes -4\n", 1, 7, "must not be negative"},
		{"Nodes 4 5\n", 1, 9, "should end here"},
		{"Nodes 4\n", 1, 0, "`Connections M`"},
		{"Nodes 4\nTriggers 1\n", 2, 1, "`Connections M`"},
		{"Nodes 4\nConnections 99\n", 2, 13, "the number is above"},
		{"Nodes 1\nConnections 1\n0->0 start 0 size 1\n", 2, 0, "is none"},
		{"Nodes 4\nConnections 0\n", 2, 0, "is none"},
		{"Nodes 4\nConnections 1\n", 2, 0, "ends after 0 of 1"},
		{"Nodes 4\nConnections 1\n0 1 start 0 size 1\n", 3, 1, "source->target"},
		{"Nodes 4\nConnections 1\n0->\n", 3, 4, "a number is missing"},
		{"Nodes 4\nConnections 1\n->1\n", 3, 1, "a number is missing"},
		{"Nodes 4\nConnections 1\n0->4 start 0 size 1\n", 3, 4, "above 3"},
		{"Nodes 4\nConnections 1\n2->2 start 0 size 1\n", 3, 4, "lead to its sender, 2"},
		{"Nodes 4\nConnections 1\n0->1 begin 0 size 1\n", 3, 6, "a key other than"},
		{"Nodes 4\nConnections 1\n0->1 start 0 start 0\n", 3, 14, "twice"},
		{"Nodes 4\nConnections 1\n0->1 start 0 size\n", 3, 18, "a number is missing"},
		{"Nodes 4\nConnections 1\n0->1 start 0\n", 3, 13, "needs a size"},
		{"Nodes 4\nConnections 1\n0->1 start 0 size 0\n", 3, 20, "needs a size"},
		{"Nodes 4\nConnections 1\n0->1 size 5\n", 3, 12, "needs a start or a trigger"},
		{"Nodes 4\nConnections 1\n0->1 start 0 size 4294967296\n", 3, 19, "above"},
		{"Nodes 4\nConnections 1\n0->1 trigger 1 size 5\n", 3, 14, "there are no triggers"},
		{"Nodes 4\nConnections 1\n0->1 start 0 size 5 send_done_trigger 1\n", 3, 39,
		 "there are no triggers"},
		{"Nodes 4\nConnections 1\n0->1 start 0 size 1\n1->0 start 0 size 1\n", 4, 1,
		 "after the 1 connections"},
		{"Nodes 4\nConnections 1\n0->1 start\1 0 size 1\n", 3, 11, "is not text"},
	};
	struct matrix matrix = {.nics = 77};
	struct refusal refusal;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(parse(&matrix, cases[i].text, &refusal), -EINVAL);
		if (strstr(refusal.text, cases[i].reason) == NULL ||
		    refusal.line != cases[i].line || refusal.column != cases[i].column)
			fail_msg("case %zu: %u:%u: %s", i, refusal.line, refusal.column,
				 refusal.text);
		assert_int_equal(matrix.nics, 77); // untouched
	}
}

#define TWO "Nodes 4\nConnections 2\nTriggers 2\n"
#define ONE_SHOTS "trigger id 1 oneshot\ntrigger id 2 oneshot\n"

static void a_flow_waits_for_others(void **)
{
	struct matrix matrix;
	struct refusal refusal;
	static const char text[] =
		"Nodes 4\nConnections 5\nTriggers 3\nFailures 0\n"
		"trigger id 3 barrier\n"
		"2->3 trigger 3 size 30\n"
		"1->2 trigger 1 size 20 send_done_trigger 2 recv_done_trigger 3\n"
		"0->1 start 7 size 10 recv_done_trigger 1\n"
		"trigger id 1 oneshot\ntrigger id 2 oneshot\n"
		"3->2 size 40 recv_done_trigger 3 start 9\n"
		"2->0 trigger 3 size 50\n";
	assert_int_equal(parse(&matrix, text, &refusal), 0);
	assert_int_equal(matrix.trigger_count, 3);
	assert_flow(&matrix.flows[0], 2, 3, 30, PS_NEVER);
	assert_flow(&matrix.flows[2], 0, 1, 10, 7);
	const struct trigger *triggers = matrix.triggers;
	assert_true(triggers[0].needed == 1 && triggers[0].fired == 0);
	assert_int_equal(triggers[0].first, 2);
	assert_true(triggers[1].needed == 1 && triggers[1].first == 0); // starts nothing
	assert_true(triggers[2].needed == 2 && triggers[2].first == 1);
	assert_int_equal(matrix.flows[0].next, 5); // 2->3, then 2->0
	assert_int_equal(matrix.flows[4].next, 0);
	assert_true(matrix.flows[1].on_sent == 2 && matrix.flows[1].on_received == 3);
}

static void triggers_that_cannot_be_are_refused_with_their_place(void **)
{
	static const struct {
		const char *text;
		uint32_t line, column;
		const char *reason;
	} cases[] = {
		{TWO "0->1 start 0 size 1 send_done_trigger 1\n# far\n1->2 start 0 size 1 "
		     "send_done_trigger 1\n"
		     "trigger id 1 multishot\ntrigger id 2 oneshot\n",
		 6, 21, "this is at NIC 1, and the multishot is fired at NIC 0 already"},
		{TWO "0->1 start 0 size 1 send_done_trigger 1\n0->2 trigger 1 size 1\n"
		     "trigger id 2 oneshot\n\ntrigger id 1 barrier count 2\n",
		 8, 12, "a barrier of 2, and 1 connections fire it"},
		{TWO "trigger id 1 barrier count 0\n", 4, 28, "would never open"},
		{TWO "trigger id 1 barrier count 5\n", 4, 28, "above 4"},
		{TWO "trigger id 1 oneshot count 1\n", 4, 22, "should end here"},
		{TWO "trigger id 1 barrier count 1 2\n", 4, 30, "should end here"},
		{TWO "0->1 start 0 size 1 send_done_trigger 1\n0->2 trigger 1 size 1\n"
		     "trigger id 1 multishot\ntrigger id 2 oneshot\n# three\n0->3 trigger 1\n",
		 9, 1, "after the 2 connections"},
		{"Nodes 4\nConnections 3\nTriggers 1\n"
		 "0->1 start 0 size 1 send_done_trigger 1\n0->2 trigger 1 size 1\n"
		 "0->3 trigger 1 size 1\ntrigger id 1 multishot\n",
		 6, 6, "for ever"},
		{"Nodes 4\nConnections 3\n0->1 id 7 start 0 size 1\n# no id\n1->2 start 0 size "
		 "1\n\n2->3 start 0 size 1 id 7\n",
		 7, 1, "id 7 is that of the connection in line 3, too"},
		{TWO "0->1 start 0 size 1 send_done_trigger 1\n"
		     "0->2 start 0 size 1 send_done_trigger 1\n" ONE_SHOTS,
		 5, 21, "fired by a flow above, once"},
		{TWO "0->1 trigger 1 size 1\n0->2 start 0 size 1\n" ONE_SHOTS, 4, 6, "for ever"},
		{TWO "0->1 trigger 1 size 1 send_done_trigger 2\n"
		     "0->2 trigger 2 size 1 send_done_trigger 1\n" ONE_SHOTS,
		 4, 6, "for ever"},
		{TWO "0->1 start 0 size 1\n0->2 trigger 2 size 1\n"
		     "trigger id 2 barrier\ntrigger id 1 oneshot\n",
		 5, 6, "for ever"},
		{TWO "0->1 start 0 trigger 1 size 1\n", 4, 30, "one of the two"},
		{TWO "0->1 start 0 size 1 send_done_trigger 0\n", 4, 39, "from 1 to 2"},
		{TWO "0->1 start 0 size 1 send_done_trigger 3\n", 4, 39, "above 2"},
		{TWO "0->1 start 0 size 1\n0->2 start 0 size 1\ntrigger id 1 oneshot\n", 6, 0,
		 "ends after 1 of 2 triggers"},
		{TWO "trigger id 1 oneshot\ntrigger id 1 oneshot\n", 5, 12, "appears twice"},
		{TWO "trigger id 1 twoshot\n", 4, 14, "oneshot, multishot or barrier"},
		{TWO "trigger 1 oneshot\n", 4, 9, "a trigger is `trigger id T"},
		{TWO "trigger id 1 oneshot 3\n", 4, 22, "should end here"},
		{TWO "Triggers 2\n", 4, 1, "stands once"},
		{"Nodes 4\nConnections 2\n0->1 start 0 size 1\nTriggers 1\n", 4, 1, "stands once"},
		{"Nodes 4\nConnections 2\nTriggers 999\n", 3, 10, "above"},
		{"Nodes 4\nConnections 2\nFailures 3\n", 3, 10, "`faults` of a scenario"},
	};
	struct matrix matrix = {.nics = 77};
	struct refusal refusal;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int rc = parse(&matrix, cases[i].text, &refusal);
		if (rc != -EINVAL || strstr(refusal.text, cases[i].reason) == NULL ||
		    refusal.line != cases[i].line || refusal.column != cases[i].column)
			fail_msg("case %zu: %d, %u:%u: %s", i, rc, refusal.line, refusal.column,
				 refusal.text);
		assert_int_equal(matrix.nics, 77); // untouched
	}
}

static void too_little_memory_is_told(void **)
{
	struct matrix matrix;
	struct refusal refusal;
	static const char text[] =
		"Nodes 4\nConnections 9\n"
		"0->1 start 0 size 1\n1->2 start 0 size 1\n2->3 start 0 size 1\n";
	assert_int_equal(parse_in(64, &matrix, text, strlen(text), &refusal), -ENOMEM);
}

static void a_real_matrix_is_a_derangement(void **)
{
	static char text[1 << 16];
	size_t bytes = given_read(text, sizeof(text), "htsim/matrices/perm_128_2MB_s3.cm");
	struct matrix matrix;
	struct refusal refusal;
	assert_int_equal(parse_in(sizeof(memory), &matrix, text, bytes, &refusal), 0);
	assert_int_equal(matrix.nics, 128);
	assert_int_equal(matrix.flow_count, 128);
	bool sends[128] = {false}, receives[128] = {false};
	for (uint32_t i = 0; i < 128; i++) {
		const struct flow *flow = &matrix.flows[i];
		assert_false(sends[flow->from] || receives[flow->to]);
		sends[flow->from] = receives[flow->to] = true;
		assert_int_equal(flow->bytes, 2000000);
		assert_int_equal(flow->start_ps, 0);
	}
}
