// SPDX-License-Identifier: Apache-2.0
// The lines of a step as text of SimAI.

#include <weft/trace/trace_run.h>
#include <weft/workload/step_text.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// Rounded, the sum of many lines drifts: what a line leaves is the next one's.
struct rounding {
	ps_t left_ps[STEP_COLUMN_COUNT + 1];
};

static long long round_ns(struct rounding *rounding, unsigned column, ps_t time)
{
	ps_t all = time > 0 ? time + rounding->left_ps[column] : 0;
	if (all <= 0)
		return 0;
	ps_t ns = (all + PS_PER_NS / 2) / PS_PER_NS;
	rounding->left_ps[column] = all - ns * PS_PER_NS;
	return ns;
}

static void put_column(FILE *to, struct rounding *rounding, const struct step_line *line,
		       enum step_column column)
{
	static const char *const endings[TRACE_GROUP_COUNT] = {"", "", "_EP", "_DP_EP"};
	const struct step_send *send = &line->sends[column];
	fprintf(to, "\t%lld\t%s%s\t%llu", round_ns(rounding, column, line->compute_ps[column]),
		trace_comm_name(send->comm), endings[send->group], (unsigned long long)send->bytes);
}

static void put_line(FILE *to, struct rounding *rounding, const struct step_line *line)
{
	fprintf(to, "%s_%u\t-1", line->name, line->position);
	put_column(to, rounding, line, STEP_COLUMN_FORWARD);
	put_column(to, rounding, line, STEP_COLUMN_INPUT);
	put_column(to, rounding, line, STEP_COLUMN_WEIGHT);
	fprintf(to, "\t%lld\n", round_ns(rounding, STEP_COLUMN_COUNT, line->update_ps));
}

int trace_simai_text(char **ret_text, size_t *ret_bytes, const struct step_text *text)
{
	struct rounding rounding = {0};
	FILE *to = open_memstream(ret_text, ret_bytes);
	if (to == NULL)
		return -ENOMEM;
	fprintf(to,
		"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: %u ep: %u pp: %u vpp: "
		"%u ga: %u all_gpus: %u checkpoints: 0 checkpoint_initiates: 0",
		text->tp, text->ep, text->pp, text->vpp, text->micro_batches, text->ranks);
	fprintf(to, text->pp > 1 ? " pp_comm: 0\n%u\n" : "\n%u\n", text->line_count);
	for (uint32_t i = 0; i < text->line_count; i++)
		put_line(to, &rounding, &text->lines[i]);
	if (fclose(to) == 0)
		return 0;
	free(*ret_text);
	return -ENOMEM;
}
