// SPDX-License-Identifier: Apache-2.0
// Random worlds with faults, run by one process and by two to four: every count, every cell of a
// histogram and the digest are the same. The processes are threads here, each with a world of its
// own. A failing seed is run again by
//   WEFT_PROCESSES_FIRST=<seed> WEFT_PROCESSES_COUNT=1 <this program>
// Half of the worlds also have what crosses out of its order: copies, and packets held back.

#include "../drive/thread_ranks.h"
#include "../drive/truth.h"
#include "../sanitized.h"
#include "../swarm_world.h"

#define RANKS_MAX 4

// Puts copies and held back packets before the other faults of a world, or where there are none.
static void add_late_faults(struct text *text, uint64_t seed)
{
	static const char list[] = "faults:\n";
	static struct text before;
	uint64_t bits = rng_mix(seed ^ 0x6c617465);
	if (bits & 1)
		return;
	before = *text;
	char *at = strstr(before.at, list);
	text->used = at == NULL ? before.used : (size_t)(at - before.at);
	add(text, "%s  - {kind: duplicate, at: all, probability: 0.%02u}\n", list,
	    1 + (unsigned)(bits >> 8 & 15));
	add(text, "  - {kind: reorder, at: all, probability: 0.%02u, delay: %uus}\n",
	    1 + (unsigned)(bits >> 16 & 15), 1 + (unsigned)(bits >> 24 & 31));
	if (at != NULL)
		add(text, "%s", at + sizeof(list) - 1);
}

struct seen {
	uint64_t worlds, crossings, late, lost, alike;
};

// One world by one process, then by `count`.
static void run_world(const char *yaml, uint64_t seed, uint32_t count, struct seen *seen)
{
	static struct rig truth, rigs[RANKS_MAX];
	char name[64];
	snprintf(name, sizeof(name), "seed %llu, %u ranks", (unsigned long long)seed, count);
	rig_run(&truth, yaml, NULL);
	uint64_t crossings = thread_ranks_run(rigs, yaml, NULL, count);
	truth_same(name, &rigs[0], &truth);
	for (uint32_t i = 1; i < count; i++)
		truth_count(name, "windows of another rank", rigs[i].run.windows,
			    truth.run.windows);
	seen->worlds++;
	seen->crossings += crossings;
	seen->late += truth.run.held_back + truth.run.doubled;
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		seen->lost += truth.run.dropped[i];
	seen->alike += rigs[1].run.delivered > 0 && rigs[1].run.delivered < truth.run.delivered;
	thread_ranks_free(rigs, count);
	world_instance_free(&truth.world_instance);
}

static void a_seed_is_the_same_world_with_every_compiler(void **)
{
	static struct text text;
	struct expectation expected;
	uint64_t digest = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		add_world(&text, seed, &expected);
		add_late_faults(&text, seed);
		digest = text_digest(digest, &text);
	}
	assert_int_equal(digest, UINT64_C(0xf3fb87ac0a958ee4));
}

static void random_worlds_do_not_depend_on_the_number_of_processes(void **state)
{
	static struct text text;
	struct expectation expected;
	struct seen seen = {0};
	uint64_t few = is_sanitized() ? 3 : 6; // it has less to find
	uint64_t first = number("WEFT_PROCESSES_FIRST",
				3); // the second has the most windows by far
	uint64_t count = number("WEFT_PROCESSES_COUNT", few);
	for (uint64_t seed = first; seed < first + count; seed++) {
		add_world(&text, seed, &expected);
		add_late_faults(&text, seed);
		seed_begin("WEFT_PROCESSES", seed);
		if (getenv("WEFT_PROCESSES_PRINT") != NULL)
			puts(text.at);
		run_world(text.at, seed, 2 + (uint32_t)(seed % (RANKS_MAX - 1)), &seen);
	}
	seeds_end();
	printf("%llu worlds from seed %llu, %llu of them shared; %llu messages, %llu packets lost, "
	       "%llu late or copies\n",
	       (unsigned long long)seen.worlds, (unsigned long long)first,
	       (unsigned long long)seen.alike, (unsigned long long)seen.crossings,
	       (unsigned long long)seen.lost, (unsigned long long)seen.late);
	if (count >= 3)
		assert_true(2 * seen.alike > seen.worlds && seen.lost > 0 && seen.late > 0);
}
