// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <weft/result/figure_table.h>
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
		put_count(row, "cables", input->run.dropped[reason]);
	}
}

void drops_json(json_t *root, const struct report_input *input)
{
	put_drops(root, input);
	figures_json(root, "cables", input);
}
