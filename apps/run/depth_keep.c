// SPDX-License-Identifier: Apache-2.0
// The outcome of a depth as a file.

#include <stdio.h>

#include <weft/drive_files.h>

#include "depth.h"
#include "folder.h"

#define NAME "step.json"

int depth_keep(struct call *call, depth_write *write, const void *depth)
{
	char path[4096];
	struct draft draft;
	uint32_t made;
	if (call->options.out == NULL)
		return 0;
	int rc = folder_make(call->options.out, NAME, &made, &call->refusal);
	if (rc < 0)
		return rc;
	snprintf(path, sizeof(path), "%s/" NAME, call->options.out);
	rc = draft_begin(&draft, path, &call->refusal);
	if (rc < 0)
		return rc;
	write(draft.to, call, depth);
	rc = draft_end(&draft, 0, &call->refusal);
	return rc < 0 ? rc : call_seal(call);
}
