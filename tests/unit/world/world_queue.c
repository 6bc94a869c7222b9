// SPDX-License-Identifier: Apache-2.0
// Keys of the room of switches: what a scenario makes of them, and which go together.

// clang-format off
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <errno.h>
#include <string.h>

#include <weft/world/world.h>

static const char text[] = "fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
			   "traffic: {kind: permutation, bytes: 1MB}\n";

static struct scenario scenario;
static struct refusal refusal;

static int parse(const char *const *sets)
{
	uint32_t count = 0;
	while (sets[count] != NULL)
		count++;
	return scenario_parse(&scenario, "text", text, strlen(text), sets, count, &refusal);
}

static void nothing_is_lossless_by_default(void **)
{
	assert_int_equal(parse((const char *const[]){NULL}), 0);
	assert_false(scenario.fabric.pfc.is_on);
	assert_true(scenario.fabric.trim_on);
}

static void what_is_lossless_is_not_trimmed(void **)
{
	assert_int_equal(parse((const char *const[]){"queue.pfc=true", NULL}), 0);
	assert_true(scenario.fabric.pfc.is_on);
	assert_false(scenario.fabric.trim_on);
	assert_false(scenario.transport.cc.has_trimming);
	assert_int_equal(scenario.fabric.pfc.xoff_bytes, 0); // follows from the queue
	assert_int_equal(scenario.fabric.pfc.watch_ps, 0);
	assert_int_equal(parse((const char *const[]){"queue.pfc=true", "queue.trim=false",
						     "queue.pfc_xoff=100kB", "queue.pfc_xon=1B",
						     "queue.pfc_watch=10ms",
						     "queue.pfc_watch_action=drop", NULL}),
			 0);
	assert_int_equal(scenario.fabric.pfc.xoff_bytes, 100000);
	assert_int_equal(scenario.fabric.pfc.xon_bytes, 1);
	assert_int_equal(scenario.fabric.pfc.watch_ps, 10 * PS_PER_MS);
	assert_int_equal(scenario.fabric.pfc.watch_action, PAUSE_WATCH_DROP);
}

#define SETS_MAX 6

static const struct {
	const char *sets[SETS_MAX];
	uint32_t line, column;
	const char *reason;
} refused[] = {
	{{"queue.pfc_xoff=50kB"}, 1, 1, "no effect here; it needs queue.pfc true"},
	{{"queue.control_packets=10"}, 1, 23, "go together"},
	{{"queue.control_packets=10", "queue.data_packets=256"}, 2, 20, "too large"},
	{{"queue.control_packets=10", "queue.data_packets=1", "queue.control_share=25%"},
	 1,
	 23,
	 "exclude each other"},
	{{"queue.alpha=2"}, 1, 1, "no effect here; it needs a queue.shared"},
	{{"queue.shared=4257B"}, 1, 14, "do not hold a full packet of 4258 B"},
	{{"queue.shared=1MB", "queue.alpha=0"}, 2, 13, "too small"},
	{{"queue.shared=1MB", "queue.last_hop_bytes=1MB"}, 2, 1, "no queue.shared"},
	{{"queue.shared=1MB", "queue.pfc=true", "queue.pfc_xoff=9kB"}, 3, 1, "threshold moves"},
	{{"queue.pfc=true", "queue.pfc_xoff=4257B"}, 2, 16, "a full packet of 4258 B"},
	{{"queue.pfc=true", "queue.pfc_xoff=9kB", "queue.pfc_xon=9kB"}, 3, 15, "is not below"},
	{{"queue.pfc=true", "queue.trim=true"}, 2, 12, "no effect with queue.pfc"},
	{{"queue.pfc=true", "queue.trim_bytes=64B"},
	 2,
	 1,
	 "it needs queue.trim true, queue.pfc false and"},
	{{"queue.pfc=true", "queue.last_hop_bytes=1MB"}, 2, 1, "it needs queue.pfc false"},
	{{"queue.pfc=true", "queue.pfc_headroom=0B"}, 2, 20, "write auto, or 1B"},
	{{"queue.pfc=true", "queue.pfc_watch_action=drop"}, 2, 1, "with a queue.pfc_watch"},
	{{"queue.pfc=true", "queue.pfc_watch=1s", "queue.pfc_watch_action=stop"},
	 3,
	 24,
	 "it may be: count, drop"},
};

static void what_has_no_sense_is_refused_with_its_place(void **)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		refusal = (struct refusal){0};
		assert_int_equal(parse(refused[i].sets), -EINVAL);
		if (strstr(refusal.text, refused[i].reason) == NULL ||
		    refusal.line != refused[i].line || refusal.column != refused[i].column)
			fail_msg("%s: %u:%u: %s", refused[i].sets[0], refusal.line, refusal.column,
				 refusal.text);
	}
}
