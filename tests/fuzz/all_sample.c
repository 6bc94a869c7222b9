// SPDX-License-Identifier: Apache-2.0
// Any text as a sample: it is read, or refused with a column within it.

#include "target.h"

#include <errno.h>

#include <weft/workload/workload.h>

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {"groups=2,steps=8,buckets=1,fill=4", "packets=40M", "off", NULL};
#endif

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	struct sample sample = {0};
	struct refusal refusal = {0};
	char *text = malloc(bytes + 1); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	int rc = sample_parse(&sample, text, &refusal);
	check(rc == 0 || rc == -EINVAL);
	if (rc < 0)
		check(refusal.text[0] != '\0' && refusal.column <= strlen(text) + 1);
	free(text);
}
