// SPDX-License-Identifier: Apache-2.0
// The cables of an example that a check shows. See result_file.h.

#include <weft/run/result_file.h>

#include <stdio.h>
#include <stdlib.h>

#define CABLES_BYTES_MAX ((size_t)1 << 30)
#define PATH_BYTES 4096

void example_read(struct example *ret, const char *from, const char *folder)
{
	struct refusal refusal = {0}; // what cannot be read is not drawn
	char path[PATH_BYTES];
	size_t bytes;
	int length = snprintf(path, sizeof(path), "%s/%s/run", from, folder);
	ret->cables = NULL;
	if (*folder == '\0' || length >= PATH_BYTES ||
	    result_file_read(&ret->file, path, false, &refusal) < 0)
		return;
	if (result_file_beside(&ret->file, "cables.csv", CABLES_BYTES_MAX, path, &ret->cables,
			       &bytes, &refusal) < 0)
		ret->cables = NULL;
}

void example_free(struct example *example)
{
	free(example->cables);
	result_file_free(&example->file);
	*example = (struct example){.cables = NULL};
}
