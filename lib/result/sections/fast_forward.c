// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <inttypes.h>

#include <weft/result/number.h>
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

static void refusals(FILE *to, const struct world_fast_forward *of)
{
	const char *before = "  looked and did not jump: ";
	for (enum fast_forward_refusal why = 0; why < FAST_FORWARD_REFUSAL_COUNT; why++) {
		if (of->refused[why] == 0)
			continue;
		fprintf(to, "%s%s %" PRIu64, before, fast_forward_refusal_name(why),
			of->refused[why]);
		before = ", ";
	}
	if (before[0] == ',')
		fprintf(to, "\n");
}

void fast_forward_table(FILE *to, const struct report_input *input)
{
	const struct world_fast_forward *of = input->world->skipped;
	struct text text[6];
	if (of == NULL)
		return;
	if (of->jumps == 0)
		fprintf(to, "  skipped: nothing, no state was steady\n");
	else
		fprintf(to,
			"  skipped: %s jumps (%s confirmed behind) over %s ring steps, with them "
			"%s "
			"whole collectives;\n"
			"  %s data packets in %s that did not run",
			number_grouped(&text[0], of->jumps),
			number_grouped(&text[1], of->confirmed),
			number_grouped(&text[2], of->steps),
			number_grouped(&text[3], of->collectives),
			number_count(&text[4], of->packets), number_time(&text[5], of->time_ps));
	if (of->jumps > 0)
		fprintf(to, ", +- %s\n", number_time(&text[0], of->error_ps));
	refusals(to, of);
}
