// SPDX-License-Identifier: Apache-2.0
// Acceptance profiles, found and read. A file of its own: who needs nothing else links no
// manifests.

#include <stdlib.h>

#include <weft/files/files.h>
#include <weft/run/result_file.h>
#include <weft/verdict/report_verdict.h>

#define PROFILE_BYTES_MAX ((size_t)1 << 20)

int profile_read(struct profile *ret, const char *name, struct refusal *refusal)
{
	char path[4096], *text;
	size_t bytes;
	int rc = data_path_find(DATA_PATH_PROFILES, name, path, sizeof(path), refusal);
	if (rc == 0)
		rc = file_read(path, PROFILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = profile_parse(ret, path, text, bytes, refusal);
	free(text);
	return rc;
}
