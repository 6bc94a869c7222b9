// SPDX-License-Identifier: Apache-2.0

#include "tune_robust.h"

#include <stdio.h>
#include <string.h>

// docs/howto/tune.md says what each of them is.
static const struct tune_robust rows[] = {
	{"base_rtt_low", 0.7, NULL, 0, 0},
	{"base_rtt_high", 1.3, NULL, 0, 0},
	{"plane_down", 0, "kind: link_down, at: {plane: 0}", 4, 0},
	{"plane_slow", 0, "kind: slow, at: {plane: 0}, rate: 50%", 0, 0},
	{"loss", 0, "kind: loss, at: all, probability: 0.1%", 0, 0},
	{"mixed", 0, NULL, 0, 4},
};
#define ROW_COUNT (sizeof(rows) / sizeof(*rows))

const struct tune_robust *tune_robust_named(const char *name, struct refusal *refusal)
{
	size_t used;
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	used = (size_t)snprintf(refusal->text, sizeof(refusal->text),
				"nothing is called `+%.40s`; behind a scenario may stand:", name);
	for (size_t i = 0; i < ROW_COUNT && used < sizeof(refusal->text); i++)
		used += (size_t)snprintf(refusal->text + used, sizeof(refusal->text) - used, " +%s",
					 rows[i].name);
	return NULL;
}

void tune_robust_set(const struct tune_robust *row, const struct tune_fabric *fabric,
		     char ret[TUNE_ROBUST_BYTES])
{
	ret[0] = '\0';
	if (row->base_rtt > 0)
		snprintf(ret, TUNE_ROBUST_BYTES, "cc.base_rtt=%.0fns",
			 row->base_rtt * fabric->rtt_ps / 1e3);
	if (row->beside_bdps > 0)
		snprintf(ret, TUNE_ROBUST_BYTES, "traffic.beside=%.0fB",
			 row->beside_bdps * fabric->bdp_bytes);
}

void tune_robust_fault(const struct tune_robust *row, const struct tune_fabric *fabric,
		       char ret[TUNE_ROBUST_BYTES])
{
	ret[0] = '\0';
	if (row->fault != NULL)
		snprintf(ret, TUNE_ROBUST_BYTES, "{%s, from: %.0fns}", row->fault,
			 row->from_rtts * fabric->rtt_ps / 1e3);
}
