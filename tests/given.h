// SPDX-License-Identifier: Apache-2.0
// Files of others, which are not part of weft: they lie below $WEFT_SHARED/data. Include it behind
// cmocka.h.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Reads a file into `text` and returns its length. Where there is no such folder the test is
// skipped; where only the file is missing it fails, since a name that is wrong would be skipped for
// ever.
static size_t given_read(char *text, size_t bytes_max, const char *name)
{
	char path[4096];
	const char *shared = getenv("WEFT_SHARED");
	snprintf(path, sizeof(path), "%s/data", shared != NULL ? shared : "../shared");
	if (access(path, F_OK) != 0) {
		print_message("skipped: %s is not here\n", path);
		skip();
	}
	snprintf(path, sizeof(path), "%s/data/%s", shared != NULL ? shared : "../shared", name);
	FILE *file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("%s is not there", path);
	size_t bytes = fread(text, 1, bytes_max, file);
	fclose(file);
	return bytes;
}
