// SPDX-License-Identifier: Apache-2.0
// A world with too little memory is refused, whichever draw fails: with the limit to raise, or with
// what there was no memory for.

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <weft/world/world.h>

#define MEMORY_BYTES ((size_t)64 << 20)
#define FABRIC \
	"name: a\nfabric: {topology: clos, nics: 16, nics_per_t0: 8, t1_count: 4, planes: 2}\n" \
	"transport: {evs: 8, mpr: 64}\nlimits: {packets: 512}\n"

static uint64_t draws; // that failed

// Builds the world in `bytes`. Returns what world_build() does.
static int build(const char *yaml, size_t bytes, size_t *used, struct refusal *refusal)
{
	static struct scenario scenario;
	static struct world world;
	struct arena arena;
	memset(&scenario, 0, sizeof(scenario));
	memset(&world, 0, sizeof(world));
	*refusal = (struct refusal){.line = 0};
	assert_int_equal(scenario_parse(&scenario, "test", yaml, strlen(yaml), NULL, 0, refusal),
			 0);
	void *memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(memory != MAP_FAILED);
	arena_init(&arena, memory, bytes);
	int rc = world_build(&world, &arena, &scenario, NULL, 0, refusal);
	*used = arena.used;
	assert_int_equal(munmap(memory, MEMORY_BYTES), 0);
	return rc;
}

// Lets each draw be the one that fails, from the last one to the first.
static void check_draws(const char *yaml)
{
	struct refusal refusal;
	size_t needed, used;
	assert_int_equal(build(yaml, MEMORY_BYTES, &needed, &refusal), 0);
	assert_int_equal(build(yaml, needed, &used, &refusal), 0);
	for (; used > 0; draws++) {
		assert_int_equal(build(yaml, used - 1, &used, &refusal), -ENOMEM);
		if (strstr(refusal.text, "raise limits.memory") == NULL &&
		    strstr(refusal.text, "no memory for ") == NULL)
			fail_msg("refused with: %s", refusal.text);
	}
}

static void flows_are_refused(void **state)
{
	check_draws(FABRIC "watch: {bin: 1us, bins: 10, nics: true, links: true, evs: true, "
			   "delays: true, racks: true}\n"
			   "traffic: {kind: permutation, bytes: 100kB}\n"
			   "faults: [{kind: link_down, at: {nic: 3, plane: 1}, from: 5us}]\n");
}

static void rings_are_refused(void **state)
{
	check_draws(FABRIC "traffic: {kind: ring, collective: all_reduce, ranks: 16, bytes: 1MiB, "
			   "channels: 2}\n");
}

static void collectives_are_refused(void **state)
{
	check_draws(FABRIC "traffic: {kind: collective, collective: all_to_all, bytes: 64KiB}\n");
}

static void collectives_made_on_demand_are_refused(void **state)
{
	check_draws(FABRIC "traffic: {kind: collective, collective: all_to_all, bytes: 64KiB, "
			   "channels: 1, peers: 1, messages: made}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_are_refused),
		cmocka_unit_test(rings_are_refused),
		cmocka_unit_test(collectives_are_refused),
		cmocka_unit_test(collectives_made_on_demand_are_refused),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	printf("%" PRIu64 " draws failed, one at a time\n", draws);
	return failed;
}
