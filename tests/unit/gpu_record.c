// SPDX-License-Identifier: Apache-2.0
// A record that was made here is held against what a file may say, before it is one.

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/gpu_record.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_file_may_say_is_sealed),
		cmocka_unit_test(what_no_file_may_say_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
