// SPDX-License-Identifier: Apache-2.0
// What part of the T0-T1 links a sample keeps. Groups that are left out would have loaded the
// trunks of the T0 switches they span; so that the groups that are run meet the load they would
// meet in the whole job, trunks are thinned in proportion: where k of n groups of a kind (equal
// size: they run at the same time) are run, k of n links are kept. Where T0 switches differ, the
// largest share counts: a sample may then find its trunks a little emptier than the job would,
// never fuller.

#include <errno.h>

#include "build.h"

static uint32_t group_class_of(const struct trunk_sampling *trunk_sampling, uint32_t ranks)
{
	uint32_t group_class = 0;
	while (group_class < trunk_sampling->group_classes &&
	       trunk_sampling->ranks[group_class] != ranks)
		group_class++;
	return group_class;
}

// Counts, per T0 and kind, the groups that reach beyond that T0.
static void count_groups(struct trunk_sampling *trunk_sampling, const struct job *job,
			 uint32_t *counts)
{
	for (uint32_t i = 0; i < job->group_count; i++) {
		const struct group *group = &job->groups[i];
		uint32_t group_class = group_class_of(trunk_sampling, group->ranks),
			 last = UINT32_MAX;
		if (group_class == trunk_sampling->group_classes) {
			if (group_class == TRUNK_GROUP_CLASSES_MAX)
				continue; // beyond so many kinds the others decide
			trunk_sampling->ranks[trunk_sampling->group_classes++] = group->ranks;
		}
		if (group->gpus[0] / trunk_sampling->t0_nics ==
		    group->gpus[group->ranks - 1] / trunk_sampling->t0_nics)
			continue; // stays below one T0: needs no trunk
		for (uint32_t at = 0; at < group->ranks; at++) {
			uint32_t t0 = group->gpus[at] / trunk_sampling->t0_nics;
			if (t0 != last)
				counts[t0 * TRUNK_GROUP_CLASSES_MAX + group_class]++;
			last = t0;
		}
	}
}

int trunk_sampling_before(struct trunk_sampling *trunk_sampling, struct world *world)
{
	const struct fabric_config *fabric = &world->fabric;
	bool is_clos = fabric->kind == TOPOLOGY_CLOS;
	*trunk_sampling = (struct trunk_sampling){.t0_nics = is_clos ? fabric->nics_per_t0
								     : fabric->tor_nics};
	if (trunk_sampling->t0_nics == 0)
		trunk_sampling->t0_nics = 1; // refused later, with its reason
	trunk_sampling->t0s = (fabric->nics - 1) / trunk_sampling->t0_nics + 1;
	size_t cells = (size_t)trunk_sampling->t0s * TRUNK_GROUP_CLASSES_MAX;
	trunk_sampling->before = arena_draw(world->arena, ARENA_WORLD, cells, sizeof(uint32_t));
	trunk_sampling->after = arena_draw(world->arena, ARENA_WORLD, cells, sizeof(uint32_t));
	if (arena_has_failed(world->arena))
		return -ENOMEM;
	count_groups(trunk_sampling, &world->job, trunk_sampling->before);
	return 0;
}

// Whether links are shared below switches alone at which groups are counted.
static bool has_trees(const struct fabric_config *fabric)
{
	return fabric->kind == TOPOLOGY_CLOS || fabric->kind == TOPOLOGY_FAT_TREE ||
		(fabric->kind == TOPOLOGY_RAIL && fabric->t1_count == 0);
}

// Collectives that are picked run one after the other; in the whole job groups of all stages run
// beside each other.
static void one_by_one(struct trunk_sampling *trunk_sampling)
{
	for (size_t cell = 0; cell < (size_t)trunk_sampling->t0s * TRUNK_GROUP_CLASSES_MAX; cell++)
		trunk_sampling->after[cell] = trunk_sampling->after[cell] > 0;
}

void trunk_sampling_after(struct trunk_sampling *trunk_sampling, struct world *world)
{
	struct fabric_config *fabric = &world->fabric;
	uint64_t kept = 0, of = 1;
	if (!has_trees(fabric)) { // which is refused where groups are left out
		fabric->trunk_sample_kept = world->job.group_count > 0 ? world->job.group_count : 1;
		fabric->trunk_sample_of = world->job.group_count > 0 ? world->plan.groups_all : 1;
		return;
	}
	count_groups(trunk_sampling, &world->job, trunk_sampling->after);
	if (world->plan.sample.pick_count > 0)
		one_by_one(trunk_sampling);
	for (size_t cell = 0; cell < (size_t)trunk_sampling->t0s * TRUNK_GROUP_CLASSES_MAX;
	     cell++) {
		if (trunk_sampling->after[cell] > 0 &&
		    trunk_sampling->after[cell] * of > kept * trunk_sampling->before[cell]) {
			kept = trunk_sampling->after[cell];
			of = trunk_sampling->before[cell];
		}
	}
	fabric->trunk_sample_kept = kept == 0
		? 1
		: (uint32_t)kept; // no group needs a trunk: any will do
	fabric->trunk_sample_of = kept == 0 ? 1 : (uint32_t)of;
}
