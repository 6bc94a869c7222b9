// SPDX-License-Identifier: Apache-2.0
// What a world costs: --footprint prints what the arena drew, room by room; a connection draws what
// endpoint_qp_bytes() says; and a host of a permutation stays below a stated size.

#include <weft/result/report.h>

#include "../rig.h"

#define PRINTED_BYTES 8192

static const char few[] = "name: footprint\n"
			  "fabric: {nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2}\n"
			  "transport: {evs: 64, mpr: 512}\n"
			  "limits: {packets: 20000}\n"
			  "traffic:\n  kind: flows\n  flows:\n";

// A world of `count` flows, each between its own two NICs.
static void build_flows(struct rig *rig, uint32_t count)
{
	char text[4096];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s", few);
	for (uint32_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "    - {from: %u, to: %u, bytes: 1MB}\n", i, 31 - i);
	assert_true(used < sizeof(text));
	if (rig_build(rig, text, NULL) < 0)
		fail_msg("refused: %s", rig->refusal.text);
}

static void print_footprint(const struct rig *rig, char *ret)
{
	FILE *to = fmemopen(ret, PRINTED_BYTES, "w");
	assert_non_null(to);
	report_footprint(to, &rig->world_instance.world);
	assert_int_equal(fclose(to), 0);
}

// The number behind `label` on its own line; thousands are set apart by commas.
static uint64_t printed(const char *text, const char *label)
{
	char start[64];
	snprintf(start, sizeof(start), "\n  %s ", label);
	const char *at = strstr(text, start);
	if (at == NULL)
		fail_msg("no line of %s in\n%s", label, text);
	at += strlen(start);
	at += strspn(at, " ");
	uint64_t value = 0;
	for (; (*at >= '0' && *at <= '9') || *at == ','; at++)
		if (*at != ',')
			value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

static void the_table_is_what_the_arena_drew(void **state)
{
	static struct rig rig;
	static char text[PRINTED_BYTES];
	build_flows(&rig, 4);
	print_footprint(&rig, text);
	const struct arena *arena = &rig.world_instance.arena;
	uint64_t total = 0;
	for (enum arena_room room = 0; room < ARENA_ROOM_COUNT; room++) {
		assert_int_equal(printed(text, arena_room_name(room)), arena->drawn_bytes[room]);
		total += arena->drawn_bytes[room];
	}
	assert_int_equal(total, arena->used);
	assert_int_equal(printed(text, "total"), arena->used);
	assert_int_equal(printed(text, "one QP:"), endpoint_qp_bytes());
	assert_int_equal(printed(text, "one context:"),
			 endpoint_context_bytes(&rig.world_instance.world.transport));
	world_instance_free(&rig.world_instance);
}

// One flow more between NICs that have endpoints already: two QPs, and their places in the timer
// heaps, which are small and rounded to cache lines.
static void a_connection_draws_what_it_is_said_to(void **state)
{
	static struct rig rig;
	char more[64];
	uint64_t drawn[3], one_qp = 0;
	for (uint32_t count = 1; count <= 3; count++) {
		char text[2048];
		size_t used = (size_t)snprintf(text, sizeof(text), "%s", few);
		for (uint32_t i = 0; i < count; i++) { // NIC 0 to others that are there anyway
			snprintf(more, sizeof(more), "    - {from: 0, to: %u, bytes: 1MB}\n",
				 i + 1);
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", more);
		}
		for (uint32_t i = 1; i <= 3; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "    - {from: %u, to: 31, bytes: 1MB}\n", i);
		if (rig_build(&rig, text, NULL) < 0)
			fail_msg("refused: %s", rig.refusal.text);
		drawn[count - 1] = rig.world_instance.arena.drawn_bytes[ARENA_TRANSPORT];
		assert_int_equal(rig.world_instance.world.qp_count, 2 * (count + 3));
		one_qp = endpoint_qp_bytes() +
			endpoint_context_bytes(&rig.world_instance.world.transport);
		world_instance_free(&rig.world_instance);
	}
	uint64_t first = drawn[1] - drawn[0], second = drawn[2] - drawn[1];
	printf("two ends more: %llu and %llu bytes; one QP: %llu\n", (unsigned long long)first,
	       (unsigned long long)second, (unsigned long long)one_qp);
	// At each of the two NICs what two draws, of records and contexts, leave of a cache line.
	enum { PADDING_MAX = 4 * 63 };
	// Completions have a place for each end of a message, in a ring that doubles: at one NIC
	// from 2 to 4 places or from 4 to 8, at the other from 2 to 4.
	const uint64_t rings_max = (4 + 2) * sizeof(struct completion);
	assert_in_range(first, 2 * one_qp - PADDING_MAX, 2 * one_qp + PADDING_MAX + rings_max);
	assert_in_range(second, 2 * one_qp - PADDING_MAX, 2 * one_qp + PADDING_MAX + rings_max);
}

// QPs that do not talk cost a record and a place among the peers, whatever their number.
static void qps_at_rest_cost_a_record(void **state)
{
	enum { QP_BYTES_MAX = 192, EV_BYTES_MAX = 8 };
	static struct rig rig;
	uint64_t drawn[2], qps[2], contexts[2];
	for (uint32_t many = 0; many < 2; many++) {
		char text[512];
		snprintf(text, sizeof(text),
			 "name: rest\n"
			 "fabric: {nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2}\n"
			 "transport: {contexts: 4, qps_per_connection: %u}\n"
			 "traffic: {kind: ring, channels: 4, bytes: 1MiB}\n",
			 many ? 32 : 4);
		if (rig_build(&rig, text, NULL) < 0)
			fail_msg("refused: %s", rig.refusal.text);
		const struct world *world = &rig.world_instance.world;
		drawn[many] = rig.world_instance.arena.drawn_bytes[ARENA_TRANSPORT];
		qps[many] = world->qp_count;
		contexts[many] = world->context_count;
		assert_in_range(endpoint_ev_bytes(&world->transport), 1, EV_BYTES_MAX);
		world_instance_free(&rig.world_instance);
	}
	assert_int_equal(contexts[0], 32 * 4);
	assert_int_equal(contexts[1], 32 * 4);
	uint64_t more = qps[1] - qps[0];
	printf("%llu QPs more cost %llu bytes each\n", (unsigned long long)more,
	       (unsigned long long)((drawn[1] - drawn[0]) / more));
	assert_int_equal(more, 32 * 2 * 4 * 28);
	assert_true(endpoint_qp_bytes() <= QP_BYTES_MAX);
	assert_in_range(drawn[1] - drawn[0], more * endpoint_qp_bytes() - 32 * 64,
			more * endpoint_qp_bytes() + 32 * 64);
}

static void a_host_of_a_permutation_stays_small(void **state)
{
	enum { HOST_BYTES_MAX = 256 << 10, HOSTS = 128 };
	static struct rig rig;
	char *text = rig_text("perm128-400g");
	if (rig_build(&rig, text, NULL) < 0)
		fail_msg("refused: %s", rig.refusal.text);
	free(text);
	assert_int_equal(rig.world_instance.world.topology.hosts, HOSTS);
	uint64_t per_host = rig.world_instance.arena.used / HOSTS;
	printf("%llu bytes per host, switches, cables and packets included\n",
	       (unsigned long long)per_host);
	assert_true(per_host <= HOST_BYTES_MAX);
	world_instance_free(&rig.world_instance);
}
