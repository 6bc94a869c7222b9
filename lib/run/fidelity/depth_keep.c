// SPDX-License-Identifier: Apache-2.0
// The outcome of a depth as a file.

#include <stdio.h>

#include <weft/files/files.h>

#include <weft/run/depth.h>

int depth_keep(struct call *call, depth_write *write, const void *depth)
{
	char path[STAGING_PATH_BYTES + 16];
	struct draft draft;
	if (call->options.out == NULL)
		return 0;
	snprintf(path, sizeof(path), "%s/step.json", call->staging.part);
	int rc = draft_begin(&draft, path, &call->refusal);
	if (rc == 0) {
		write(draft.to, call, depth);
		rc = draft_end(&draft, 0, &call->refusal);
	}
	return out_end(call, rc);
}

int depth_end(struct call *call, int kept)
{
	int status = call_finish_output(call);
	return kept < 0 ? call_say_refusal(call, kept) : status;
}
