// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <weft/result/figures.h>
#include <weft/result/put.h>

void buffer_json(json_t *root, const struct report_input *input)
{
	const struct buffer_config *config = &input->world->fabric.buffer;
	if (config->bytes == 0)
		return;
	json_t *to = object_in(root, "buffer");
	put_count(to, "bytes", config->bytes);
	put_real(to, "alpha", (double)config->alpha_ppb / ALPHA_WHOLE);
	if (is_sampled(input))
		put_reason(to, "used_max_bytes", NOT_IN_SAMPLE);
	else
		put_count(to, "used_max_bytes", input->world->outcome->fabric.buffer_bytes_max);
}

void buffer_table(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "buffer");
	if (of == NULL)
		return;
	fprintf(to, "\nShared buffer of a switch\n");
	fprintf(to, "  %-28s ", "bytes");
	table_say(to, of, "{bytes:,17}");
	fprintf(to, "   alpha %g\n", document_number(of, "alpha"));
	table_put_row(to, "most used", of, "used_max_bytes", TABLE_BYTES);
}
