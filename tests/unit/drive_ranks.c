// SPDX-License-Identifier: Apache-2.0
// How many processes run one world is decided before any of it is built: a table of every number
// that somebody may start.

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/drive_ranks.h>

#define FIT 16 // as docs and messages say
#define STARTED_MAX 40

static void what_does_not_fit_is_refused_with_what_does(void **state)
{
	(void)state;
	for (uint32_t count = 1; count <= STARTED_MAX; count++) {
		struct refusal refusal = {0};
		char should[128];
		int rc = ranks_fit(count, count, &refusal);
		assert_int_equal(rc, count <= FIT ? 0 : -EINVAL);
		snprintf(should, sizeof(should),
			 "%u processes were started; at most %d run one world", count, FIT);
		assert_string_equal(refusal.text, count <= FIT ? "" : should);
	}
}

// A program of one MPI under the launcher of another: each process believes to be alone.
static void a_launcher_that_says_another_number_is_refused(void **state)
{
	(void)state;
	for (uint32_t count = 1; count <= STARTED_MAX; count++) {
		struct refusal refusal = {0};
		assert_int_equal(ranks_fit(count, count + 1, &refusal), -ENODEV);
		assert_non_null(strstr(refusal.text, "another MPI"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_fit_is_refused_with_what_does),
		cmocka_unit_test(a_launcher_that_says_another_number_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
