// SPDX-License-Identifier: Apache-2.0
// Fuzz: any bytes as the result of a step (weft mllog --result). What is accepted is a time; what
// is refused has a reason, and a line of the text where it is no JSON.

#include <errno.h>
#include <math.h>

#include <weft/study/mllog.h>

#include "target.h"

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {"{\"step\": {\"step_ps\": 3120000000000}}",
				  "{\"step\": {\"step_ps\": -1},\n \"step_ps\": 1.5}", NULL};
#endif

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	struct refusal refusal = {0};
	double step_s = 0;
	char *text = malloc(bytes + (bytes == 0)); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	int rc = mllog_result(&step_s, text, bytes, &refusal);
	if (rc < 0) {
		check(rc == -EINVAL && refusal.text[0] != '\0' && step_s == 0);
		check(refusal.line <= fuzz_lines(data, bytes));
	} else {
		check(isfinite(step_s) && step_s > 0);
	}
	free(text);
}
