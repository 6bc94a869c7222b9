// SPDX-License-Identifier: Apache-2.0
// The jobs of apps/models, for tests: each read once from the source tree.
#pragma once

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/scenario/plan_file.h>

#define SHIPPED_PLANS_MAX 64
#define SHIPPED_TEXT_BYTES 16384

static struct plan_file shipped_files[SHIPPED_PLANS_MAX];
static const struct plan *shipped_plans[SHIPPED_PLANS_MAX + 1];

static void shipped_read(struct plan_file *file, const char *name)
{
	static char text[SHIPPED_TEXT_BYTES];
	char path[512];
	struct refusal reason = {0};
	snprintf(path, sizeof(path), "%s/apps/models/%s", getenv("WEFT_SOURCE"), name);
	FILE *from = fopen(path, "rb");
	assert_non_null(from);
	size_t bytes = fread(text, 1, sizeof(text), from);
	fclose(from);
	assert_true(bytes < sizeof(text));
	if (plan_file_read(file, path, text, bytes, &reason) < 0)
		fail_msg("%s:%u:%u: %s", reason.file, reason.line, reason.column, reason.text);
}

// All of them, ended by NULL.
__attribute__((unused)) static const struct plan *const *plan_all(void)
{
	char path[512];
	uint32_t count = 0;
	if (shipped_plans[0] != NULL)
		return shipped_plans;
	snprintf(path, sizeof(path), "%s/apps/models", getenv("WEFT_SOURCE"));
	DIR *folder = opendir(path);
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		if (strstr(entry->d_name, ".yaml") == NULL)
			continue;
		assert_true(count < SHIPPED_PLANS_MAX);
		shipped_read(&shipped_files[count], entry->d_name);
		shipped_plans[count] = &shipped_files[count].plan;
		count++;
	}
	closedir(folder);
	return shipped_plans;
}

__attribute__((unused)) static const struct plan *plan_find(const char *name)
{
	for (const struct plan *const *at = plan_all(); *at != NULL; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	fail_msg("no job %s", name);
	return NULL;
}
