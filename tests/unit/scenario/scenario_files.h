// SPDX-License-Identifier: Apache-2.0
// Files of the source tree for tests that read scenarios: the text of one, and all that are
// shipped.
#pragma once

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/world/world.h>

#define FILE_BYTES_MAX 131072

__attribute__((unused)) static struct scenario scenario;
static char text[FILE_BYTES_MAX];

__attribute__((unused)) static size_t source_read(const char *name)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", getenv("WEFT_SOURCE"), name);
	FILE *file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("%s: %s", path, strerror(errno));
	size_t bytes = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	assert_true(bytes < sizeof(text) - 1);
	text[bytes] = '\0';
	return bytes;
}

// Calls `visit` with the name of each shipped scenario; returns their number.
__attribute__((unused)) static uint32_t shipped_each(void (*visit)(const char *name))
{
	char path[512];
	uint32_t count = 0;
	snprintf(path, sizeof(path), "%s/apps/scenarios", getenv("WEFT_SOURCE"));
	DIR *folder = opendir(path);
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		if (strstr(entry->d_name, ".yaml") == NULL)
			continue;
		visit(entry->d_name);
		count++;
	}
	closedir(folder);
	return count;
}
