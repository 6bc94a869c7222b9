// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <weft/result/put.h>

void fast_forward_json(json_t *root, const struct report_input *input)
{
	const struct world_fast_forward *of = input->world->skipped;
	if (of == NULL)
		return;
	const struct fast_forward_config *config = &input->world->scenario->fast_forward;
	json_t *to = object_in(root, "fast_forward");
	put_real(to, "tolerance", (double)config->tolerance_ppb / 1e9);
	put_count(to, "jumps", of->jumps);
	put_count(to, "confirmed", of->confirmed);
	put_count(to, "ring_steps", of->steps);
	put_count(to, "collectives", of->collectives);
	put_count(to, "data_packets", of->packets);
	put_count(to, "payload_bytes", of->payload_bytes);
	put_time(to, "time_ps", of->time_ps);
	put_time(to, "time_error_ps", of->error_ps);
	json_t *refused = object_in(to, "refused");
	for (enum fast_forward_refusal why = 0; why < FAST_FORWARD_REFUSAL_COUNT; why++)
		put_count(refused, fast_forward_refusal_name(why), of->refused[why]);
}

static void refusals(FILE *to, json_t *refused)
{
	const char *before = "  looked and did not jump: ", *why;
	json_t *count;
	json_object_foreach(refused, why, count)
	{
		if (json_integer_value(count) == 0)
			continue;
		fprintf(to, "%s%s %" JSON_INTEGER_FORMAT, before, why, json_integer_value(count));
		before = ", ";
	}
	if (before[0] == ',')
		fprintf(to, "\n");
}

void fast_forward_table(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "fast_forward");
	struct text text[7];
	if (of == NULL)
		return;
	if (document_number(of, "jumps") == 0)
		fprintf(to, "  skipped: nothing, no state was steady\n");
	else
		fprintf(to,
			"  skipped: %s jumps (%s confirmed behind) over %s ring steps, with them "
			"%s whole collectives;\n"
			"  %s data packets in %s that did not run, +- %s\n",
			table_figure(&text[0], of, "jumps", TABLE_GROUPED),
			table_figure(&text[1], of, "confirmed", TABLE_GROUPED),
			table_figure(&text[2], of, "ring_steps", TABLE_GROUPED),
			table_figure(&text[3], of, "collectives", TABLE_GROUPED),
			table_figure(&text[4], of, "data_packets", TABLE_COUNT),
			table_figure(&text[5], of, "time_ps", TABLE_TIME),
			table_figure(&text[6], of, "time_error_ps", TABLE_TIME));
	refusals(to, json_object_get(of, "refused"));
}
