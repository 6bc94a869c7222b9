// SPDX-License-Identifier: Apache-2.0
// Reads a topology's file for a scenario. What it says is checked against the scenario when the
// fabric is built.

#include <weft/run/input_files.h>

#include <stdio.h>
#include <stdlib.h>

#include <weft/engine/engine.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)

int topology_file_read(struct scenario *scenario, struct refusal *refusal)
{
	char path[2 * SCENARIO_PATH_BYTES], *text;
	size_t bytes;
	if (scenario->fabric.kind != TOPOLOGY_FILE)
		return 0;
	file_beside(scenario->path, scenario->topology_file, path, sizeof(path));
	int rc = file_read(path, FILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = tree_parse(&scenario->fabric.tree, text, bytes, refusal);
	free(text);
	if (rc < 0)
		refusal_name(refusal, path);
	return rc;
}
