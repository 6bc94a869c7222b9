// SPDX-License-Identifier: Apache-2.0
// Fuzz: any bytes as a list of ratios (--jitter list:FILE). Whatever is accepted has ratios within
// the limits of the format; what is refused has a reason, on a line of the text.

#include <errno.h>

#include <weft/workload/step.h>

#include "target.h"

#define RATIOS_MAX 64

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"1\n1.01\n0.99\n", "# of a log\n1.000000001\n\n  0.5 \n2\n", "1e3\n", "-1\n", "0\n", NULL};
#endif

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	static uint64_t ratios[RATIOS_MAX];
	struct refusal refusal = {0};
	uint32_t count;
	int rc = jitter_list_parse(ratios, RATIOS_MAX, (const char *)data, bytes, &count, &refusal);
	if (rc < 0) {
		check(rc == -EINVAL && refusal.text[0] != '\0');
		check(refusal.line <= fuzz_lines(data, bytes));
		return;
	}
	check(count >= 2 && count <= RATIOS_MAX && count <= fuzz_lines(data, bytes));
	for (uint32_t i = 0; i < count; i++)
		check(ratios[i] > 0 && ratios[i] <= 1000 * UINT64_C(1000000000));
}
