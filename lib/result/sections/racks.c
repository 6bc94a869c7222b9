// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <weft/result/figures.h>
#include <weft/result/put.h>

static void put_pair(json_t *array, const struct racks *racks, uint32_t from, uint32_t to)
{
	const struct hist *of = &racks->of[from * racks->groups + to];
	struct latency latency;
	if (of->total == 0)
		return;
	latency_of(&latency, of, false);
	json_t *row = row_in(array);
	put_count(row, "from", from);
	put_count(row, "to", to);
	put_count(row, "count", latency.count);
	put_figure(row, "p50_ns", &latency.p50_ns);
	put_figure(row, "p99_ns", &latency.p99_ns);
	put_figure(row, "max_ns", &latency.max_ns);
}

void racks_json(json_t *root, const struct report_input *input)
{
	const struct racks *racks = &input->world->outcome->racks;
	if (racks->groups == 0)
		return put_reason(root, "racks", "not measured: watch.racks is false");
	if (is_sampled(input)) // of a rack it has no messages, or those of some of its ranks
		return put_reason(root, "racks", NOT_IN_SAMPLE);
	json_t *to = object_in(root, "racks");
	put_count(to, "groups", racks->groups);
	put_count(to, "hosts_per_group", racks->hosts_per_group);
	json_t *array = array_in(to, "pairs");
	for (uint32_t from = 0; from < racks->groups; from++)
		for (uint32_t target = 0; target < racks->groups; target++)
			put_pair(array, racks, from, target);
}
