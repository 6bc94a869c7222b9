// SPDX-License-Identifier: Apache-2.0
// Fuzz: any bytes as a histogram (*.hdr) beside a result. What is accepted says the digest of the
// result; what is refused has a reason and a file.

#include <errno.h>

#include <weft/result/report_result.h>

#include "target.h"
#include <weft/result/result.h>

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
	"      35.231 0.000000000000          1           1.00\n"
	"      59.775 0.500000000000          2           2.00\n"
	"     110.755 1.000000000000          4\n"
	"#[Mean    =       83.486, StdDeviation   =       16.149]\n"
	"#[Max     =      110.755, Total count    =            4]\n"
	"#[Buckets =           27, SubBuckets     =         2048]\n"
	"#[unit us; complete; digest 0123456789abcdef]\n",
	"       Value     Percentile TotalCount 1/(1-Percentile)\n\n#[Total count    =            "
	"4]\n"
	"#[unit ns; PARTIAL RESULT; digest 0123456789abcdef]\n#[EV number 7]\n",
	NULL};
#endif

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	static struct result *result;
	struct refusal refusal = {0};
	if (result == NULL)
		result = result_unchecked(
			json_loads("{\"run\": {\"digest\": \"0123456789abcdef\"}, \"flows\": "
				   "{\"count\": 4}, \"messages\": []}",
				   0, NULL),
			"a/result.json");
	char *text = malloc(bytes + 1);
	check(text != NULL && result != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0'; // as file_read() leaves it
	int rc = result_check_histogram(result, "a/flow.hdr", text, bytes, &refusal);
	if (rc == 0)
		check(strlen(text) == bytes && strstr(text, "0123456789abcdef") != NULL);
	else
		check(rc == -EINVAL && refusal.text[0] != '\0' &&
		      strcmp(refusal.file, "a/flow.hdr") == 0);
	free(text);
}
