// SPDX-License-Identifier: Apache-2.0
// The file of --measured.

#include <stdlib.h>

#include <weft/engine/engine.h>
#include <weft/result/report_measured.h>

#include <weft/run/fidelity.h>

#define RESULT_BYTES_MAX ((size_t)1 << 28)

int fidelity_measured(struct world_step *world, const char *path, struct refusal *refusal)
{
	char *text;
	size_t bytes;
	int rc = file_read(path, RESULT_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = measured_parse(world, path, text, bytes, refusal);
	free(text);
	return rc;
}
