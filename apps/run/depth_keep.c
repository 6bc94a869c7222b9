// SPDX-License-Identifier: Apache-2.0
// The outcome of a depth as a file.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "depth.h"
#include "folder.h"

#define NAME "step.json"

static int refuse_path(struct call *call, const char *path, int error)
{
	snprintf(call->refusal.file, sizeof(call->refusal.file), "%.255s", path);
	snprintf(call->refusal.text, sizeof(call->refusal.text), "cannot be written: %s",
		 strerror(error));
	return -error;
}

int depth_keep(struct call *call, depth_write *write, const void *depth)
{
	char path[4096];
	uint32_t made;
	if (call->options.out == NULL)
		return 0;
	int rc = folder_make(call->options.out, NAME, &made, &call->refusal);
	if (rc < 0)
		return rc;
	snprintf(path, sizeof(path), "%s/" NAME, call->options.out);
	FILE *to = fopen(path, "w");
	if (to == NULL)
		return refuse_path(call, path, errno);
	write(to, call, depth);
	int is_bad = ferror(to), error = errno;
	return fclose(to) != 0 || is_bad ? refuse_path(call, path, is_bad ? error : errno) : 0;
}
