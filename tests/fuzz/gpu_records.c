// SPDX-License-Identifier: Apache-2.0
// Fuzz: a record of a rank. What is accepted is written as it was read, and makes a link that a
// generator takes; what is refused has a line and a reason.

#include <weft/gpu/gpu_record.h>

#include "target.h"

#define PARTS_LINKED 4096u
#define STRETCH_LINKED (1u << 20)

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"weft-record 2\n"
	"rank 0 ranks 2 buckets 1 steps 1 parts 5 slice_bytes 64 element_bytes 2 seed 1\n"
	"gate 0 0 0 20000 0\nfill 0 0 0 7 0\nreduce 0 0 0 0 9\nupdate 0 0 0 5 5\ngate 1 0 0 0 4\n",
	"weft-record 2\n" // numbers that would wrap
	"rank 0 ranks 2 buckets 1 steps 1 parts 5 slice_bytes 64 element_bytes 2 seed "
	"18446744073709551617\n"
	"gate 0 0 0 20000 0\nfill 0 0 0 7 0\nreduce 0 0 0 0 9\nupdate 0 0 0 5 5\ngate 1 0 0 0 4\n",
	"weft-record 2\n"
	"rank 3 ranks 4 buckets 2 steps 2 parts 18 slice_bytes 128 element_bytes 4 seed 9\n"
	"compute 0 7 9 20 0\ngate 0 1 0 2 0\ngate 0 0 0 2 0\n"
	"fill 0 1 0 7 0\nreduce 0 1 0 0 9\nfill 0 0 0 7 0\nreduce 0 0 0 0 9\nupdate 0 0 0 5 5\n"
	"compute 1 7 9 20 3\ngate 1 1 0 2 1\ngate 1 0 0 2 1\n"
	"fill 1 1 0 7 0\nreduce 1 1 0 0 9\nfill 1 0 0 7 0\nreduce 1 0 0 0 9\nupdate 1 0 0 5 5\n"
	"gate 2 1 0 0 4\ngate 2 0 0 0 4\n",
	NULL};
#endif

static int read_bytes(struct gpu_record *ret, const void *data, size_t bytes,
		      struct refusal *refusal)
{
	return gpu_record_read(ret, "fuzz.record", data, bytes, refusal);
}

// What was read is written as it stood in the file: no number became another one.
static void check_text(const struct gpu_record *record, const uint8_t *data, size_t bytes)
{
	char *text = NULL;
	size_t text_bytes;
	FILE *to = open_memstream(&text, &text_bytes);
	check(to != NULL && gpu_record_write(to, record) == 0 && fclose(to) == 0);
	check(text_bytes == bytes && memcmp(text, data, bytes) == 0);
	free(text);
}

static void check_link(const struct gpu_record *record)
{
	struct refusal refusal = {0};
	struct gpu_link run, generator;
	check(gpu_record_link(&run, NULL, record, 1, false, &refusal) == 0);
	check(gpu_link_join(&generator, &run, &refusal) == 0);
	check(gpu_link_claim(&generator, 0, "fuzz", &refusal) == 0);
	gpu_link_close(&generator);
	gpu_link_close(&run);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	struct refusal refusal = {0};
	struct gpu_record record;
	if (bytes > FUZZ_BYTES_MAX)
		return;
	int rc = read_bytes(&record, data, bytes, &refusal);
	if (rc < 0) {
		fuzz_refused(rc, &refusal);
		check(refusal.line > 0);
		return;
	}
	check_text(&record, data, bytes);
	uint64_t slices = record.slices_before[record.buckets];
	check(slices > 0 && slices <= UINT64_MAX / record.slice_bytes);
	if (record.part_count <= PARTS_LINKED && slices * record.slice_bytes <= STRETCH_LINKED)
		check_link(&record);
	gpu_record_free(&record);
}
