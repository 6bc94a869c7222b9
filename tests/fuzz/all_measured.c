// SPDX-License-Identifier: Apache-2.0
// Fuzz: any bytes as the result of --measured. What is accepted makes collectives of this step
// longer or shorter by a share that is one; what is refused has a reason and a file, and leaves the
// step as it was.

#include <errno.h>

#include <weft/result/report_measured.h>

#include "target.h"

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"{\"collectives\": [{\"kind\": \"all_gather\", \"bytes\": 3187802112, \"ranks\": 256, "
	"\"stands_for\": 8, \"time_ps\": 17531358900}, {\"kind\": \"reduce_scatter\", \"bytes\": "
	"4096, \"ranks\": 256, \"stands_for\": 1, \"time_ps\": 900000000}]}",
	"{\"collectives\": []}", NULL};
#endif

#define LONGEST 1e3 // times the closed form

static const struct world_step step = {.setup = {.dense = {.ranks = 256,
							   .ranks_per_domain = 4,
							   .channels = 32,
							   .network_Bps = UINT64_C(200000000000),
							   .domain_Bps = UINT64_C(900000000000),
							   .network_ps = 10 * PS_PER_US,
							   .domain_ps = PS_PER_US,
							   .chunk_bytes = 2u << 20,
							   .credits = 8,
							   .credit_ps = 5 * PS_PER_US}}};

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	static struct world_step measured;
	struct refusal refusal = {0};
	char *text = malloc(bytes + (bytes == 0)); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	measured = step;
	int rc = measured_parse(&measured, "r.json", text, bytes, &refusal);
	if (rc < 0) {
		check(rc == -EINVAL && refusal.text[0] != '\0' && !measured.is_measured);
		check(strcmp(refusal.file, "r.json") == 0);
		check(refusal.line <= fuzz_lines(data, bytes));
	} else {
		check(measured.is_measured && measured.measured_ppb > -1000000000);
		check((double)measured.measured_ppb <= (LONGEST - 1) * 1e9);
	}
	free(text);
}
