// SPDX-License-Identifier: Apache-2.0
// How the cables of a world are called, and which of them are tapped when.

// clang-format off
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/world/world.h>

#define ARENA_BYTES ((size_t)256 << 20)
#define NOWHERE UINT32_MAX

static struct scenario scenario;
static struct world world;
static void *base;

#define TRAFFIC "traffic: {kind: permutation, bytes: 1MB}\n"
// 32 NICs on 8 hosts, two planes of 4 T0 and 2 T1, each pair of them linked twice
#define CLOS \
	"fabric: {nics: 32, nics_per_host: 4, planes: 2, nics_per_t0: 8, t1_count: 2, bundle: " \
	"2}\n"
// two pods of 2 ToR and 2 aggregation switches, 4 cores
#define FAT_TREE \
	"fabric: {topology: fat-tree, nics: 16, tor_nics: 4, pod_tors: 2, pod_aggs: 2, cores: 4, " \
	"planes: 2}\n"
// Two groups of eight ranks each, of which one is run: half of the trunks are kept.
#define SAMPLED \
	"fabric: {nics: 16, nics_per_host: 2, nics_per_t0: 4, t1_count: 8}\n" \
	"traffic: {kind: trace}\n" \
	"sample: {groups: 1}\n"
static const char trace[] =
	"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 "
	"all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm 0\n1\n"
	"gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t1048576\t100\n";

static void parse(const char *text)
{
	struct refusal refusal = {0};
	if (scenario_parse(&scenario, "text", text, strlen(text), NULL, 0, &refusal) != 0)
		fail_msg("%u:%u: %s", refusal.line, refusal.column, refusal.text);
}

static int build_with(const char *text, size_t bytes, struct refusal *refusal)
{
	struct arena arena;
	memset(base, 0, ARENA_BYTES);
	arena_init(&arena, base, ARENA_BYTES);
	int rc = world_build(&world, &arena, &scenario, text, bytes, refusal);
	world.arena = NULL; // it ends here; what was drawn from it stays
	return rc;
}

static int build(struct refusal *refusal)
{
	return build_with(NULL, 0, refusal);
}

static int build_trace(struct refusal *refusal)
{
	return build_with(trace, sizeof(trace) - 1, refusal);
}

static void build_good(const char *text)
{
	struct refusal refusal = {0};
	parse(text);
	if (build(&refusal) != 0)
		fail_msg("line %u: %s", refusal.line, refusal.text);
}

static const char *name_of(uint32_t cable)
{
	static char name[WORLD_CABLE_NAME_BYTES];
	memset(name, '#', sizeof(name));
	world_cable_name(&world, cable, name, sizeof(name));
	assert_non_null(memchr(name, '\0', sizeof(name)));
	return name;
}

// The cable of that name, or NOWHERE.
static uint32_t cable_of(const char *name)
{
	for (uint32_t i = 0; i < world.cable_count; i++)
		if (strcmp(name_of(i), name) == 0)
			return i;
	return NOWHERE;
}

// ---------------------------------------------------------------- names

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void assert_names_differ(const char *text)
{
	build_good(text);
	char(*names)[WORLD_CABLE_NAME_BYTES] = calloc(world.cable_count, sizeof(*names));
	assert_non_null(names);
	for (uint32_t i = 0; i < world.cable_count; i++)
		strcpy(names[i], name_of(i));
	qsort(names, world.cable_count, sizeof(*names), compare_names);
	for (uint32_t i = 1; i < world.cable_count; i++)
		assert_string_not_equal(names[i - 1], names[i]);
	free(names);
}

static void no_two_cables_have_one_name(void **)
{
	assert_names_differ(CLOS TRAFFIC);
	assert_int_equal(world.cable_count, 2 * (32 + 4 * 2 * 2) * 2);
	assert_names_differ(FAT_TREE TRAFFIC);
	assert_int_equal(world.cable_count, 2 * (16 + 4 * 2 + 2 * 4) * 2);
}

// The words of a place name the cable that a fault at that place hits: told from the world's plan.
static void a_name_says_what_the_cable_joins(void **)
{
	build_good(CLOS TRAFFIC);
	const struct cable_plan *up = &world.cables[cable_of("nic 13 plane 1 > t0 1")];
	assert_int_equal(up->from_machine, 13 / 4);
	assert_int_equal(up->from_port, 13 % 4 * 2 + 1);
	assert_int_equal(up->to_machine, 8 + (4 + 2) + 1); // behind the hosts and plane 0
	assert_int_equal(up->to_port, 13 % 8);
	const struct cable_plan *down = &world.cables[cable_of("t0 1 > nic 13 plane 1")];
	assert_ptr_equal(down, up + 1);
	assert_int_equal(down->to_machine, up->from_machine);
	const struct cable_plan *trunk = &world.cables[cable_of("t0 2 up 3 plane 0 > t1 1")];
	assert_int_equal(trunk->from_machine, 8 + 2);
	assert_int_equal(trunk->from_port, 8 + 3);
	assert_int_equal(trunk->to_machine, 8 + 4 + 1);
	assert_int_equal(cable_of("t1 1 > t0 2 up 3 plane 0"), trunk + 1 - world.cables);
	assert_int_equal(cable_of("t0 2 up 3 plane 0 > t1 0"), NOWHERE);
	assert_int_equal(cable_of("nic 32 plane 0 > t0 4"), NOWHERE);
}

static void a_core_is_named_by_the_port_below_it(void **)
{
	build_good(FAT_TREE TRAFFIC);
	const struct cable_plan *up = &world.cables[cable_of("t1 3 up 1 plane 1 > t2 3")];
	assert_int_equal(up->tier, 2);
	assert_int_equal(up->plane, 1);
	assert_int_equal(up->from_machine, 16 + (4 + 4 + 4) + 4 + 3);
	assert_int_equal(up->from_port, 2 + 1); // behind those down to the pod's ToR switches
	assert_int_equal(up->to_machine, 16 + (4 + 4 + 4) + 4 + 4 + 3);
	assert_int_equal(up->to_port, 1); // one per pod
	assert_int_not_equal(cable_of("t2 3 > t1 3 up 1 plane 1"), NOWHERE);
}

static void a_name_is_cut_to_its_room(void **)
{
	build_good(CLOS TRAFFIC);
	uint32_t cable = cable_of("nic 13 plane 1 > t0 1");
	for (size_t bytes = 1; bytes < WORLD_CABLE_NAME_BYTES; bytes++) {
		char name[WORLD_CABLE_NAME_BYTES], want[WORLD_CABLE_NAME_BYTES];
		memset(name, '#', sizeof(name));
		world_cable_name(&world, cable, name, bytes);
		snprintf(want, bytes, "%s", "nic 13 plane 1 > t0 1");
		assert_string_equal(name, want);
		assert_int_equal(name[bytes], '#');
	}
}

// ---------------------------------------------------------------- taps

static uint32_t tapped_at(ps_t at)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < world.cable_count; i++)
		count += world_cable_is_tapped(&world, TAP_LOCATION(i, false), at);
	return count;
}

static uint32_t tapped_ever(void)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < world.cable_count; i++)
		count += world_cable_has_tap(&world, TAP_LOCATION(i, false));
	return count;
}

static void assert_tapped(const char *name, bool is_tapped)
{
	uint32_t cable = cable_of(name);
	assert_int_not_equal(cable, NOWHERE);
	assert_int_equal(world_cable_has_tap(&world, TAP_LOCATION(cable, false)), is_tapped);
	assert_int_equal(world_cable_is_tapped(&world, TAP_LOCATION(cable, false), 0), is_tapped);
}

static void a_world_without_taps_has_none(void **)
{
	build_good(CLOS TRAFFIC);
	assert_int_equal(tapped_at(0), 0);
	assert_int_equal(tapped_ever(), 0);
}

static void a_tap_of_all_hears_every_cable(void **)
{
	build_good(CLOS TRAFFIC "taps: [{at: all}]\n");
	assert_int_equal(tapped_at(0), world.cable_count);
	assert_int_equal(tapped_at(PS_NEVER - 1), world.cable_count);
	assert_int_equal(tapped_ever(), world.cable_count);
}

static void a_tap_hears_its_place_and_no_other(void **)
{
	build_good(CLOS TRAFFIC "taps: [{at: {nic: 13, plane: 1}}]\n");
	assert_int_equal(tapped_ever(), 2);
	assert_tapped("nic 13 plane 1 > t0 1", true);
	assert_tapped("t0 1 > nic 13 plane 1", true);
	assert_tapped("nic 13 plane 0 > t0 1", false);
	build_good(CLOS TRAFFIC "taps: [{at: {t0: 2, up: 3, plane: 0}}]\n");
	assert_int_equal(tapped_ever(), 2);
	assert_tapped("t0 2 up 3 plane 0 > t1 1", true);
	assert_tapped("t1 1 > t0 2 up 3 plane 0", true);
	build_good(CLOS TRAFFIC "taps: [{at: {plane: 1}}]\n");
	assert_int_equal(tapped_ever(), world.cable_count / 2);
	assert_tapped("t0 2 up 3 plane 1 > t1 1", true);
	assert_tapped("t0 2 up 3 plane 0 > t1 1", false);
}

static void up_is_away_from_the_nics(void **)
{
	build_good(CLOS TRAFFIC "taps: [{at: all, direction: up}]\n");
	assert_int_equal(tapped_ever(), world.cable_count / 2);
	assert_tapped("nic 13 plane 1 > t0 1", true);
	assert_tapped("t0 1 > nic 13 plane 1", false);
	assert_tapped("t0 2 up 3 plane 0 > t1 1", true);
	build_good(FAT_TREE TRAFFIC "taps: [{at: {plane: 0}, direction: down}]\n");
	assert_int_equal(tapped_ever(), world.cable_count / 4);
	assert_tapped("t2 3 > t1 3 up 1 plane 0", true);
	assert_tapped("t1 3 up 1 plane 0 > t2 3", false);
	assert_tapped("t0 1 > nic 5 plane 0", true);
}

static void a_tap_begins_and_ends(void **)
{
	build_good(CLOS TRAFFIC "taps:\n"
				"  - {at: {nic: 0, plane: 0}, from: 2us, until: 3us}\n"
				"  - {at: {nic: 0, plane: 0}, direction: up, from: 5us}\n");
	assert_int_equal(tapped_at(0), 0);
	assert_int_equal(tapped_at(2 * PS_PER_US - 1), 0);
	assert_int_equal(tapped_at(2 * PS_PER_US), 2);
	assert_int_equal(tapped_at(3 * PS_PER_US - 1), 2);
	assert_int_equal(tapped_at(3 * PS_PER_US), 0);
	assert_int_equal(tapped_at(5 * PS_PER_US), 1);
	assert_int_equal(tapped_ever(), 2);
}

// ---------------------------------------------------------------- refusals

// What a reader of text never lets through: the tap's line is told all the same.
static void assert_refused(struct tap tap, const char *reason)
{
	struct refusal refusal = {0};
	parse(CLOS TRAFFIC "taps:\n  - {at: all}\n  - {at: all}\n");
	scenario.taps[1] = tap;
	assert_int_equal(build(&refusal), -EINVAL);
	assert_int_equal(refusal.line, 5);
	assert_non_null(strstr(refusal.text, reason));
	assert_int_equal(build(NULL), -EINVAL);
}

static void a_tap_at_no_place_is_refused_with_its_line(void **)
{
	struct tap tap = {.at.where = LINK_AT_NIC, .until_ps = PS_NEVER};
	tap.at.index = 32;
	assert_refused(tap, "there is no NIC 32");
	tap.at.index = 0;
	tap.at.plane = 2;
	assert_refused(tap, "there is no plane 2");
	tap.at = (struct link_location){.where = LINK_AT_TRUNK, .index = 4};
	assert_refused(tap, "there is no T0 4");
	tap.at = (struct link_location){.where = LINK_AT_TRUNK, .port = 4};
	assert_refused(tap, "T0 0 has no up port 4");
	tap.at.where = LINK_AT_ALL;
	tap.direction = (enum tap_direction)3;
	assert_refused(tap, "direction of a tap 3");
	tap.direction = TAP_UP;
	tap.from_ps = tap.until_ps;
	assert_refused(tap, "must end after it begins");
}

// A sample keeps a part of the trunks: a tap at one that is left out would hear nothing.
static void a_tap_at_a_trunk_that_a_sample_leaves_out_is_refused(void **)
{
	struct refusal refusal = {0};
	parse(SAMPLED "taps: [{at: {t0: 0, up: 3, plane: 0}}]\n");
	if (build_trace(&refusal) != 0)
		fail_msg("%s", refusal.text);
	assert_tapped("t0 0 up 3 plane 0 > t1 3", true);
	parse(SAMPLED "taps: [{at: {t0: 0, up: 4, plane: 0}}]\n");
	assert_int_equal(build_trace(&refusal), -EINVAL);
	assert_int_equal(refusal.line, 4);
	assert_non_null(strstr(refusal.text, "T0 0 has no up port 4: it has 4"));
}

static int set_up_all(void **)
{
	base = aligned_alloc(4096, ARENA_BYTES);
	return base == NULL ? -1 : 0;
}

static int tear_down_all(void **)
{
	free(base);
	return 0;
}
