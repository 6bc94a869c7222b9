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
	if (of == NULL)
		return;
	if (document_number(of, "jumps") == 0)
		fprintf(to, "  skipped: nothing, no state was steady\n");
	else
		table_say(
			to, of,
			"  skipped: {jumps} jumps ({confirmed} confirmed behind) over {ring_steps} "
			"ring steps, with them {collectives} whole collectives;\n"
			"  {data_packets:short} data packets in {time_ps} that did not run, +- "
			"{time_error_ps}\n");
	refusals(to, json_object_get(of, "refused"));
}
