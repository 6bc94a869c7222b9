// SPDX-License-Identifier: Apache-2.0
// See drops.h.

#include "drops.h"

#include <weft/result/figures.h>
#include <weft/result/put.h>

static void put_drops(json_t *root, const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	json_t *array = array_in(root, "drops");
	for (enum drop_reason reason = 0; reason < DROP_REASON_COUNT; reason++) {
		json_t *row = row_in(array);
		put_text(row, "reason", drop_reason_name(reason));
		put_count(row, "switches", outcome->fabric.dropped[reason]);
		put_count(row, "hosts", outcome->dropped_at_host[reason]);
		put_count(row, "cables", input->cable_dropped[reason]);
	}
}

static void put_cables(json_t *root, const struct report_input *input)
{
	json_t *to = object_in(root, "cables");
	put_count(to, "damaged", input->damaged);
	put_count(to, "doubled", input->doubled);
	put_count(to, "held_back", input->held_back);
	put_count(to, "late_full", input->late_full);
}

void drops_json(json_t *root, const struct report_input *input)
{
	put_drops(root, input);
	put_cables(root, input);
}
