// SPDX-License-Identifier: Apache-2.0
// A record that was made here is held against what a file may say, before it is one.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <weft/gpu/gpu_record.h>

// One bucket of one slice, one step.
static const struct gpu_record_part parts[] = {{.work = GPU_GATE},
					       {.work = GPU_FILL},
					       {.work = GPU_REDUCE},
					       {.work = GPU_UPDATE},
					       {.work = GPU_GATE, .step = 1}};
#define PARTS (sizeof(parts) / sizeof(*parts))

static int seal(struct gpu_record *record, struct refusal *refusal)
{
	int rc = gpu_record_seal(record, refusal);
	record->parts = NULL; // not from the heap
	gpu_record_free(record);
	return rc;
}

static struct gpu_record make(struct gpu_record_part own[PARTS])
{
	memcpy(own, parts, sizeof(parts));
	return (struct gpu_record){.ranks = 2,
				   .buckets = 1,
				   .steps = 1,
				   .element_bytes = 2,
				   .slice_bytes = 64,
				   .part_count = PARTS,
				   .parts = own};
}

static void what_a_file_may_say_is_sealed(void **)
{
	struct refusal refusal = {0};
	struct gpu_record_part own[PARTS];
	struct gpu_record record = make(own);
	int rc = seal(&record, &refusal);
	if (rc != 0)
		fail_msg("%d: line %u: %s", rc, refusal.line, refusal.text);
}

// More computations than a link has room for, and slices that are no whole elements: the file could
// be written, but nobody could read it.
static void what_no_file_may_say_is_refused(void **)
{
	struct refusal refusal = {0};
	struct gpu_record_part own[PARTS];
	struct gpu_record record = make(own);
	record.part_count = GPU_OPS_MAX + 1;
	assert_int_equal(seal(&record, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "number of computations"));
	record = make(own);
	record.slice_bytes = 66;
	assert_int_equal(seal(&record, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "whole elements"));
}

// ---------------------------------------------------------------- files

#define HEAD "weft-record 2\n"
#define SECOND(rank, ranks, buckets, steps, parts, slice, element, seed) \
	"rank " rank " ranks " ranks " buckets " buckets " steps " steps " parts " parts \
	" slice_bytes " slice " element_bytes " element " seed " seed "\n"
#define GOOD SECOND("0", "2", "1", "1", "5", "64", "2", "0")
#define PARTS_GOOD "gate 0 0 0 7 0\nfill 0 0 0 7 0\nreduce 0 0 0 0 7\nupdate 0 0 0 7 7\n"
#define LAST "gate 1 0 0 0 7\n"

static int read_text(const char *text, size_t bytes, struct gpu_record *ret,
		     struct refusal *refusal)
{
	*refusal = (struct refusal){0};
	int rc = gpu_record_read(ret, "a.record", text, bytes, refusal);
	if (rc < 0)
		assert_string_equal(refusal->file, "a.record");
	return rc;
}

// What does not fit, where it stands, and what is said of it. Numbers that would wrap are the first
// of them: 2^32 + 2 is no 2, and -1 no 2^32 - 1.
static const struct {
	const char *text;
	uint32_t line;
	const char *says;
} wrong_files[] = {
	{"", 1, "empty"},
	{"weft-record 1\n" GOOD PARTS_GOOD LAST, 1, "first line"},
	{HEAD, 2, "second line"},
	{HEAD SECOND("4294967296", "2", "1", "1", "5", "64", "2", "0") PARTS_GOOD LAST, 2,
	 "second"},
	{HEAD SECOND("0", "4294967298", "1", "1", "5", "64", "2", "0") PARTS_GOOD LAST, 2,
	 "second"},
	{HEAD SECOND("0", "2", "4294967297", "1", "5", "64", "2", "0") PARTS_GOOD LAST, 2,
	 "second"},
	{HEAD SECOND("0", "2", "1", "4294967297", "5", "64", "2", "0") PARTS_GOOD LAST, 2,
	 "second"},
	{HEAD SECOND("0", "2", "1", "1", "4294967301", "64", "2", "0") PARTS_GOOD LAST, 2,
	 "second"},
	{HEAD SECOND("0", "2", "1", "1", "5", "18446744073709551680", "2", "0") PARTS_GOOD LAST, 2,
	 "second"},
	{HEAD SECOND("0", "2", "1", "1", "5", "64", "4294967298", "0") PARTS_GOOD LAST, 2,
	 "second"},
	{HEAD SECOND("0", "2", "1", "1", "5", "64", "2", "18446744073709551616") PARTS_GOOD LAST, 2,
	 "second"},
	{HEAD SECOND("-0", "2", "1", "1", "5", "64", "2", "0") PARTS_GOOD LAST, 2, "second"},
	{HEAD SECOND("0", "2", "1", "1", "5", "-64", "2", "0") PARTS_GOOD LAST, 2, "second"},
	{HEAD SECOND("0", "2", "1", "1", "5", "+64", "2", "0") PARTS_GOOD LAST, 2, "second"},
	{HEAD SECOND("0", "2", "1", "1", "5", "64", "2", "-1") PARTS_GOOD LAST, 2, "second"},
	{HEAD SECOND("0", "2", "1", "1", "5", "64", "2", "0 ") PARTS_GOOD LAST, 2, "second"},
	{HEAD SECOND("2", "2", "1", "1", "5", "64", "2", "0") PARTS_GOOD LAST, 2, "no such rank"},
	{HEAD SECOND("0", "4294967295", "1", "1", "5", "64", "2", "0") PARTS_GOOD LAST, 2,
	 "no such rank"},
	{HEAD SECOND("0", "2", "1", "1", "16777217", "64", "2", "0") PARTS_GOOD LAST, 2,
	 "number of computations"},
	{HEAD SECOND("0", "2", "1", "1", "16777216", "64", "2", "0") PARTS_GOOD LAST, 2,
	 "too short for as many"},
	{HEAD SECOND("0", "2", "1", "1", "5", "64", "4294967295", "0") PARTS_GOOD LAST, 2, "whole"},
	{HEAD SECOND("0", "2", "1", "1", "5", "18446744073709551612", "2", "0") PARTS_GOOD LAST, 2,
	 "4 GiB"},
	{HEAD SECOND("0", "2", "1", "1", "5", "8589934592", "2", "0") PARTS_GOOD LAST, 2, "4 GiB"},
	{HEAD GOOD "gate 4294967296 0 0 7 0\n" PARTS_GOOD, 3, "whole numbers"},
	{HEAD GOOD "gate 0 4294967296 0 7 0\n" PARTS_GOOD, 3, "whole numbers"},
	{HEAD GOOD "gate 0 0 4294967296 7 0\n" PARTS_GOOD, 3, "whole numbers"},
	{HEAD GOOD "gate 0 0 0 18446744073709551616 0\n" PARTS_GOOD, 3, "whole numbers"},
	{HEAD GOOD "gate 0 0 0 9223372036854775808 0\n" PARTS_GOOD, 3, "whole numbers"},
	{HEAD GOOD "gate 0 0 0 7 -18446744073709551609\n" PARTS_GOOD, 3, "whole numbers"},
	{HEAD GOOD "gate 00 0 0 7 0\n" PARTS_GOOD, 3, "whole numbers"},
	{HEAD GOOD "gate 0 0 0 9223372036854775807 0\n" PARTS_GOOD, 3, "beyond 1000 s"},
	{HEAD GOOD "gate 0 0 0 7 1000000000001\n" PARTS_GOOD, 3, "beyond 1000 s"},
	{HEAD GOOD "gates 0 0 0 7 0\n" PARTS_GOOD, 3, "no such work"},
	{HEAD GOOD "  gate 0 0 0 7 0\n" PARTS_GOOD, 3, "no such work"},
	{HEAD GOOD PARTS_GOOD "gate 1 0 0 0 7", 7, "the file ends"},
	{HEAD GOOD PARTS_GOOD, 7, "the file ends"},
	{HEAD GOOD PARTS_GOOD "update 1 0 0 0 7\n", 7, "gates of all buckets"},
	{HEAD GOOD PARTS_GOOD LAST LAST, 8, "more than the second line says"},
};

static void files_with_numbers_that_do_not_fit_are_refused(void **)
{
	struct refusal refusal;
	struct gpu_record record;
	const char good[] = HEAD GOOD PARTS_GOOD LAST;
	assert_int_equal(read_text(good, sizeof(good) - 1, &record, &refusal), 0);
	assert_int_equal(record.parts[3].wait_ns, 7);
	gpu_record_free(&record);
	for (size_t i = 0; i < sizeof(wrong_files) / sizeof(*wrong_files); i++) {
		const char *text = wrong_files[i].text;
		int rc = read_text(text, strlen(text), &record, &refusal);
		if (rc != -EINVAL || refusal.line != wrong_files[i].line ||
		    strstr(refusal.text, wrong_files[i].says) == NULL)
			fail_msg("%zu: %d, line %u: %s: %s", i, rc, refusal.line, refusal.text,
				 text);
	}
}

static void a_line_is_text_and_not_too_long(void **)
{
	struct refusal refusal;
	struct gpu_record record;
	char text[1024] = HEAD GOOD "gate 0 0 0 7 0";
	size_t bytes = strlen(text);
	memset(text + bytes, ' ', 300);
	strcpy(text + bytes + 300, "\n" PARTS_GOOD LAST);
	assert_int_equal(read_text(text, strlen(text), &record, &refusal), -EINVAL);
	assert_int_equal(refusal.line, 3);
	assert_non_null(strstr(refusal.text, "too long"));
	char hidden[] = HEAD GOOD "gate 0 0 0 7 0\0 and more\n" PARTS_GOOD LAST;
	assert_int_equal(read_text(hidden, sizeof(hidden) - 1, &record, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "no text"));
}

// 2^20 slices of 2^44 bytes are 2^64 bytes, which wraps to none.
static void slices_are_not_more_than_a_stretch_has(void **)
{
	enum { FILLS = 1 << 13, COUNT = 1 + 2 * FILLS + 1 + 1 };
	struct refusal refusal = {0};
	struct gpu_record record = {.ranks = 4096,
				    .buckets = 1,
				    .steps = 1,
				    .element_bytes = 2,
				    .slice_bytes = UINT64_C(1) << 43,
				    .part_count = COUNT,
				    .parts = calloc(COUNT, sizeof(*record.parts))};
	for (uint32_t i = 0; i < 2 * FILLS; i++)
		record.parts[1 + i] = (struct gpu_record_part){
			.work = i % 2 == 0 ? GPU_FILL : GPU_REDUCE, .slice = i / 2};
	record.parts[1 + 2 * FILLS].work = GPU_UPDATE;
	record.parts[COUNT - 1].step = 1;
	assert_int_equal(gpu_record_seal(&record, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "16 TiB"));
	gpu_record_free(&record);
}
