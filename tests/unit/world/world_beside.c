// SPDX-License-Identifier: Apache-2.0
// Mixed traffic: beside the flows of the traffic, which stay as they are, each NIC sends one
// message of traffic.beside and is sent one, another NIC's for each seed.

// clang-format off
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
// clang-format on

#include <stdio.h>
#include <string.h>

#include <weft/world/world.h>

#define ARENA_BYTES ((size_t)64 << 20)
#define NICS 8

static const char text[] = "fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
			   "traffic: {kind: permutation, bytes: 1MB}\n";

static struct scenario scenario;
static struct world world;
static void *memory;

static void build(const char *const *sets)
{
	struct refusal refusal = {0};
	struct arena arena;
	uint32_t count = 0;
	while (sets[count] != NULL)
		count++;
	memset(memory, 0, ARENA_BYTES);
	arena_init(&arena, memory, ARENA_BYTES);
	if (scenario_parse(&scenario, "text", text, strlen(text), sets, count, &refusal) < 0 ||
	    world_build(&world, &arena, &scenario, NULL, 0, &refusal) < 0)
		fail_msg("%s", refusal.text);
}

#define BUILD(...) build((const char *const[]){__VA_ARGS__, NULL})

// The flows beside, of `bytes`: from each NIC, to each NIC, none to itself. Who is sent what 0
// sends.
static void are_beside(uint32_t first, uint64_t bytes, uint32_t ret[NICS])
{
	uint32_t sent = 0, received = 0;
	assert_int_equal(world.flow_count, first + NICS);
	for (uint32_t i = first; i < first + NICS; i++) {
		const struct flow *flow = &world.flows[i];
		assert_int_equal(flow->bytes, bytes);
		assert_int_not_equal(flow->from, flow->to);
		sent |= 1u << flow->from;
		received |= 1u << flow->to;
		ret[flow->from] = flow->to;
	}
	assert_int_equal(sent, (1u << NICS) - 1);
	assert_int_equal(received, (1u << NICS) - 1);
}

static void each_nic_sends_and_is_sent_one_message_more(void **state)
{
	struct flow alone[NICS];
	uint32_t to[2][NICS];
	(void)state;
	BUILD("traffic.kind=incast", "traffic.senders=5");
	assert_int_equal(world.flow_count, 5);
	memcpy(alone, world.flows, 5 * sizeof(*alone));
	BUILD("traffic.kind=incast", "traffic.senders=5", "traffic.beside=300kB");
	assert_memory_equal(world.flows, alone, 5 * sizeof(*alone));
	are_beside(5, 300000, to[0]);
	BUILD("traffic.kind=incast", "traffic.senders=5", "traffic.beside=300kB", "seed=2");
	are_beside(5, 300000, to[1]);
	assert_memory_not_equal(to[0], to[1], sizeof(to[0]));
}

static void a_permutation_has_another_one_beside(void **state)
{
	uint32_t to[NICS], differ = 0;
	(void)state;
	for (uint32_t seed = 1; seed <= 5; seed++) {
		char set[16];
		snprintf(set, sizeof(set), "seed=%u", seed);
		BUILD("traffic.beside=2MB", set);
		are_beside(NICS, 2000000, to);
		for (uint32_t i = 0; i < NICS; i++)
			differ += world.flows[i].to != to[world.flows[i].from];
	}
	assert_true(differ > 5);
}

// Flows that wait for others stay what they are: only theirs have triggers.
static void a_butterfly_waits_as_without(void **state)
{
	enum { FLOWS = 3 * NICS };
	static struct flow alone[FLOWS];
	uint32_t to[NICS];
	(void)state;
	BUILD("traffic.kind=butterfly");
	assert_int_equal(world.flow_count, FLOWS);
	memcpy(alone, world.flows, sizeof(alone));
	BUILD("traffic.kind=butterfly", "traffic.beside=300kB");
	assert_memory_equal(world.flows, alone, sizeof(alone));
	assert_int_equal(world.trigger_count, FLOWS - NICS);
	are_beside(FLOWS, 300000, to);
	for (uint32_t i = FLOWS; i < FLOWS + NICS; i++)
		assert_int_equal(world.flows[i].trigger, 0);
}

static void messages_that_are_made_have_none_beside(void **state)
{
	static const char *const sets[] = {"traffic.kind=collective",
					   "traffic.collective=all_reduce", "traffic.messages=made",
					   "traffic.beside=1MB"};
	struct refusal refusal = {0};
	(void)state;
	assert_int_not_equal(
		scenario_parse(&scenario, "text", text, strlen(text), sets, 4, &refusal), 0);
	if (strstr(refusal.text, "traffic.beside has no effect here") == NULL)
		fail_msg("%s", refusal.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_nic_sends_and_is_sent_one_message_more),
		cmocka_unit_test(a_permutation_has_another_one_beside),
		cmocka_unit_test(a_butterfly_waits_as_without),
		cmocka_unit_test(messages_that_are_made_have_none_beside),
	};
	memory = aligned_alloc(64, ARENA_BYTES);
	if (memory == NULL)
		return 1;
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	free(memory);
	return rc;
}
