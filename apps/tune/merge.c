// SPDX-License-Identifier: Apache-2.0
// Parts of a study, made on several machines, in one file.

#include "call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "weft_version.h"
#include <weft/files/files.h>

// Each is a study; the first one's words are those of all.
static int read_parts(const struct words *options, char **ret_command, struct refusal *refusal)
{
	int rc = 0;
	*ret_command = NULL;
	for (uint32_t i = 0; rc == 0 && i < options->more_count; i++) {
		struct tune_store *part;
		rc = tune_store_open(&part, options->more[i], TUNE_STORE_READ, NULL, NULL, refusal);
		if (rc == 0 && i == 0)
			rc = tune_store_fact(part, "command", ret_command, refusal);
		tune_store_close(part);
	}
	return rc;
}

static int merge_all(struct call *call)
{
	uint64_t rows = 0, all = 0;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < call->options.more_count; i++) {
		rc = tune_store_merge(call->store, call->options.more[i], &rows, &call->refusal);
		if (rc == 0 && !call->options.is_quiet)
			printf("%s: %" PRIu64 " runs more\n", call->options.more[i], rows);
	}
	if (rc == 0)
		rc = tune_store_count(call->store, &all, &call->refusal);
	if (rc == 0)
		printf("%s: %" PRIu64 " runs; go on with it: weft tune resume %s\n",
		       call->options.study, all, call->options.study);
	return rc;
}

int study_merge(struct call *call)
{
	const char *path = call->options.study;
	bool is_new = access(path, F_OK) != 0;
	char *command;
	int rc = read_parts(&call->options, &command, &call->refusal);
	if (rc == 0)
		rc = tune_store_open(&call->store, path, is_new ? TUNE_STORE_NEW : TUNE_STORE_WRITE,
				     WEFT_VERSION_TEXT, command, &call->refusal);
	free(command);
	if (rc < 0)
		return rc;
	rc = merge_all(call);
	if (rc == 0 || !is_new)
		return rc;
	tune_store_close(call->store); // takes away what SQLite has beside it
	call->store = NULL;
	unlink(path); // half of a study would pass for one
	return rc;
}
