// SPDX-License-Identifier: Apache-2.0
// Fuzz: any bytes as an acceptance profile. What is accepted has checks with names of their own and
// bounds that are numbers or words; what is refused has a reason and a file.

#include <errno.h>
#include <math.h>

#include <weft/verdict/report_verdict.h>

#include "target.h"

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {"apps/profiles", NULL};
const char *const fuzz_texts[] = {
	"name: a\nchecks:\n  - {name: b, metric: c.d, scope: e=f, statistic: max, bound: at most "
	"90 % of baseline, source: s, required: false}\n",
	NULL};
#endif

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	static struct profile profile;
	struct refusal refusal = {0};
	char *text = malloc(bytes + (bytes == 0)); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	int rc = profile_parse(&profile, "p.yaml", text, bytes, &refusal);
	free(text);
	if (rc < 0) {
		check(rc == -EINVAL && refusal.text[0] != '\0');
		check(strcmp(refusal.file, "p.yaml") == 0);
		return;
	}
	check(profile.name[0] != '\0' && profile.check_count > 0);
	check(profile.check_count <= PROFILE_CHECKS_MAX);
	for (uint32_t i = 0; i < profile.check_count; i++) {
		const struct profile_check *one = &profile.checks[i];
		check(one->name[0] != '\0' && one->metric[0] != '\0' && one->source[0] != '\0');
		check(one->bound.is_word || isfinite(one->bound.value));
		for (uint32_t other = 0; other < i; other++)
			check(strcmp(profile.checks[other].name, one->name) != 0);
	}
}
