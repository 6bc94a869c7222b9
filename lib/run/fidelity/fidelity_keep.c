// SPDX-License-Identifier: Apache-2.0
// The outcome of a depth as a file.

#include <stdio.h>

#include <weft/files/files.h>

#include <weft/run/fidelity.h>

int fidelity_keep(struct call *call, fidelity_write *write, const void *fidelity)
{
	char path[STAGING_PATH_BYTES + 16];
	struct atomic_file atomic_file;
	if (call->options.out == NULL)
		return 0;
	snprintf(path, sizeof(path), "%s/step.json", call->staging.part);
	int rc = atomic_file_begin(&atomic_file, path, &call->refusal);
	if (rc == 0) {
		write(atomic_file.to, call, fidelity);
		rc = atomic_file_end(&atomic_file, 0, &call->refusal);
	}
	return out_end(call, rc);
}

int fidelity_end(struct call *call, int kept)
{
	int status = call_finish_output(call);
	return kept < 0 ? call_say_refusal(call, kept) : status;
}
