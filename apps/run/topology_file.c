// SPDX-License-Identifier: Apache-2.0
// Reads a topology's file for a scenario. What it says is checked against the scenario when the
// fabric is built.

#include "topology_file.h"

#include <stdio.h>
#include <stdlib.h>

#include <weft/drive.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)

int topology_file_read(struct scenario *scenario, struct refusal *refusal)
{
	char *text;
	size_t bytes;
	if (scenario->fabric.kind != TOPOLOGY_FILE)
		return 0;
	int rc = file_read(scenario->topology_file, FILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = tree_parse(&scenario->fabric.tree, text, bytes, refusal);
	free(text);
	if (rc < 0)
		snprintf(refusal->file, sizeof(refusal->file), "%s", scenario->topology_file);
	return rc;
}
