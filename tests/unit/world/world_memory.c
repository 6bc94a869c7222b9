// SPDX-License-Identifier: Apache-2.0
// A world with too little memory is refused, wherever in the building it runs out: with the limit
// to raise, or with what there was no memory for.

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <weft/world/world.h>

#define MEMORY_BYTES ((size_t)64 << 20)
#define SIZES 400
#define FABRIC \
	"name: a\nfabric: {topology: clos, nics: 16, nics_per_t0: 8, t1_count: 4, planes: 2}\n" \
	"transport: {evs: 8, mpr: 64}\nlimits: {packets: 512}\n"

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

static void check_sizes(const char *yaml)
{
	struct refusal refusal;
	size_t needed, used;
	assert_int_equal(build(yaml, MEMORY_BYTES, &needed, &refusal), 0);
	for (size_t i = 1; i < SIZES; i++) {
		assert_int_equal(build(yaml, needed / SIZES * i, &used, &refusal), -ENOMEM);
		if (strstr(refusal.text, "raise limits.memory") == NULL &&
		    strstr(refusal.text, "no memory for ") == NULL)
			fail_msg("refused with: %s", refusal.text);
	}
	assert_int_equal(build(yaml, needed, &used, &refusal), 0);
}

static void flows_are_refused(void **state)
{
	check_sizes(FABRIC "watch: {bin: 1us, bins: 10, nics: true, links: true, evs: true, "
			   "delays: true, racks: true}\n"
			   "traffic: {kind: permutation, bytes: 100kB}\n"
			   "faults: [{kind: link_down, at: {nic: 3, plane: 1}, from: 5us}]\n");
}

static void rings_are_refused(void **state)
{
	check_sizes(FABRIC "traffic: {kind: ring, collective: all_reduce, ranks: 16, bytes: 1MiB, "
			   "channels: 2}\n");
}

static void collectives_are_refused(void **state)
{
	check_sizes(FABRIC "traffic: {kind: collective, collective: all_to_all, bytes: 64KiB}\n");
}

static void collectives_made_on_demand_are_refused(void **state)
{
	check_sizes(FABRIC "traffic: {kind: collective, collective: all_to_all, bytes: 64KiB, "
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
	return cmocka_run_group_tests(tests, NULL, NULL);
}
