// SPDX-License-Identifier: Apache-2.0

#include <weft/run/input_files.h>

#include <stdlib.h>

#include <weft/engine/engine.h>

#define SCENARIO_BYTES_MAX ((size_t)1 << 20)

int scenario_file_read(struct scenario *ret, const char *name, const char *const *sets,
		       uint32_t set_count, struct refusal *refusal)
{
	char path[SCENARIO_PATH_BYTES];
	char *text;
	size_t bytes;
	int rc = data_path_find(DATA_PATH_SCENARIOS, name, path, sizeof(path), refusal);
	if (rc == 0)
		rc = file_read(path, SCENARIO_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = scenario_parse(ret, path, text, bytes, sets, set_count, refusal);
	free(text);
	return rc < 0 ? rc : plan_files_read(ret, refusal);
}
