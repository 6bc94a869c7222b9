// SPDX-License-Identifier: Apache-2.0
// See measure_racks.h.

#include <weft/measure/measure_racks.h>

#include <errno.h>

#include <weft/core/check.h>

int racks_init(struct racks *racks, struct arena *arena, uint32_t hosts, uint32_t nics_per_host,
	       uint64_t value_max)
{
	check(hosts > 0 && nics_per_host > 0);
	uint32_t per = (hosts + RACK_GROUPS_MAX - 1) / RACK_GROUPS_MAX;
	*racks = (struct racks){.groups = (hosts + per - 1) / per,
				.hosts_per_group = per,
				.nics_per_host = nics_per_host};
	uint32_t pairs = racks->groups * racks->groups;
	racks->of = arena_draw(arena, ARENA_MEASURE, pairs, sizeof(*racks->of));
	int rc = racks->of == NULL ? -ENOMEM : 0;
	for (uint32_t i = 0; rc == 0 && i < pairs; i++)
		rc = hist_init(&racks->of[i], arena, RACK_DIGITS, value_max);
	return rc;
}

void racks_empty(struct racks *racks)
{
	for (uint32_t i = 0; i < racks->groups * racks->groups; i++)
		hist_empty(&racks->of[i]);
}

void racks_add(struct racks *racks, uint32_t from, uint32_t to, int64_t took_ns)
{
	uint32_t nics = racks->hosts_per_group * racks->nics_per_host;
	uint32_t row = from / nics, column = to / nics;
	check(row < racks->groups && column < racks->groups);
	hist_add(&racks->of[row * racks->groups + column], took_ns);
}

void racks_merge(struct racks *into, const struct racks *from)
{
	check(into->groups == from->groups);
	for (uint32_t i = 0; i < into->groups * into->groups; i++)
		hist_merge(&into->of[i], &from->of[i]);
}
