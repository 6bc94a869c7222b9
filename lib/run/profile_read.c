// SPDX-License-Identifier: Apache-2.0
// Acceptance profiles, found and read. A file of its own: who needs nothing else links no
// manifests.

#include <stdlib.h>

#include <weft/files/files.h>
#include <weft/run/result_file.h>
#include <weft/verdict/report_verdict.h>

int profile_read(struct profile *ret, const char *name, struct refusal *refusal)
{
	struct data_file file;
	int rc = data_file_read(&file, DATA_PATH_PROFILES, name, refusal);
	if (rc < 0)
		return rc;
	rc = profile_parse(ret, file.path, file.text, file.bytes, refusal);
	free(file.text);
	return rc;
}
