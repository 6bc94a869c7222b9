// SPDX-License-Identifier: Apache-2.0
// The folder of --out: begun before anything is run, put in its place when all is written.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "weft_version.h"
#include <weft/run/call.h>

static const char *name_of(const char *path)
{
	const char *slash = path == NULL ? NULL : strrchr(path, '/');
	return slash == NULL ? path : slash + 1;
}

// Captures may lie beside a result, but not where one of its files goes.
static int place_captures(struct call *call)
{
	const char *const files[OUT_CAPTURES] = {call->options.pcap, call->options.log};
	for (int i = 0; i < OUT_CAPTURES; i++) {
		if (files[i] == NULL ||
		    !staging_place(&call->staging, files[i], call->capture_paths[i]) ||
		    !staging_is_name(name_of(files[i])))
			continue;
		snprintf(call->refusal.file, sizeof(call->refusal.file), "%.*s",
			 (int)sizeof(call->refusal.file) - 1, files[i]);
		return refuse(&call->refusal, -EINVAL, "--out writes a file of that name");
	}
	return 0;
}

int out_begin(struct call *call)
{
	const struct options *options = &call->options;
	uint32_t count = 0;
	if (options->pcap != NULL)
		call->capture_names[count++] = name_of(options->pcap);
	if (options->log != NULL)
		call->capture_names[count++] = name_of(options->log);
	int rc = 0;
	if (options->out != NULL && !call->is_other)
		rc = staging_begin(&call->staging, options->out, call->capture_names,
				   &call->refusal);
	return rc < 0 ? rc : place_captures(call);
}

int out_end(struct call *call, int rc)
{
	if (rc == 0 && call->options.out != NULL)
		rc = manifest_write(call->staging.part, &call->inputs, WEFT_VERSION_TEXT,
				    &call->refusal);
	if (rc < 0) { // what it says of a file for a moment, it says of the folder
		if (strstr(call->refusal.file, call->staging.part) != NULL)
			snprintf(call->refusal.file, sizeof(call->refusal.file), "%.*s",
				 (int)sizeof(call->refusal.file) - 1, call->options.out);
		return rc == -EINVAL ? rc : -EIO;
	}
	return staging_end(&call->staging, &call->refusal);
}
