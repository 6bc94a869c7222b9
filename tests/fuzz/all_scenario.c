// SPDX-License-Identifier: Apache-2.0
// Any bytes as a scenario, and as an assignment: it is read, or refused with a place and a reason.

#include "target.h"

#include <errno.h>

#include <weft/world/world.h>

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {"apps/scenarios", "tests/golden/broken", NULL};
const char *const fuzz_texts[] = {"fabric.planes=4", "name: a", NULL};
#endif

static struct scenario scenario;

static void read_one(const char *text, size_t bytes, const char *const *sets, uint32_t count)
{
	static struct refusal refusal;
	memset(&refusal, 0, sizeof(refusal));
	int rc = scenario_parse(&scenario, "fuzz", text, bytes, sets, count, &refusal);
	check(rc == 0 || rc == -EINVAL);
	if (rc == 0) {
		check(scenario.fabric.nics > 0 && scenario.fault_count <= SCENARIO_FAULTS_MAX);
		return;
	}
	check(refusal.line > 0 && refusal.column > 0 && refusal.text[0] != '\0');
	check(strchr(refusal.text, '\n') == NULL);
	check(memchr(refusal.text, '\0', sizeof(refusal.text)) != NULL);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	static const char good[] = "fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
				   "traffic: {kind: permutation, bytes: 1MB}\n";
	char *text = malloc(bytes + 1); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	read_one(text, bytes, NULL, 0);
	text[bytes] = '\0';
	if (bytes < 200)
		read_one(good, sizeof(good) - 1, (const char *const[]){text}, 1);
	free(text);
}
