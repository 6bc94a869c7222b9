// SPDX-License-Identifier: Apache-2.0
// Who meets and who does not: hosts of two versions, of runs of two sizes, twice the same host.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weft/wall/meeting.h>

struct end {
	struct meeting_options options;
	struct meeting meeting;
	struct refusal refusal;
	int rc;
};

static struct end ends[2];

static void *meet(void *context)
{
	struct end *end = context;
	uint8_t said[MEETING_WORD_BYTES] = {0}, heard[MEETING_WORD_BYTES];
	end->rc = meeting_open(&end->meeting, &end->options, said, heard, &end->refusal);
	meeting_close(&end->meeting);
	return NULL;
}

// Host 0, and another one with these options.
static void meet_with(uint32_t index, uint32_t count, const char *version)
{
	static int number;
	pthread_t threads[2];
	char name[64];
	snprintf(name, sizeof(name), "meeting-%d-%d", (int)getpid(), number++);
	memset(ends, 0, sizeof(ends));
	ends[0].options = (struct meeting_options){name, 0, 2, 60, "weft 1", NULL};
	ends[1].options = (struct meeting_options){name, index, count, 60, version, NULL};
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, meet, &ends[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void are_refused(const char *why)
{
	for (int i = 0; i < 2; i++) { // each with the same words
		assert_int_equal(ends[i].rc, -EINVAL);
		assert_string_equal(ends[i].refusal.text, why);
	}
}

static void who_fits_is_taken(void **)
{
	meet_with(1, 2, "weft 1");
	assert_int_equal(ends[0].rc, 0);
	assert_int_equal(ends[1].rc, 0);
	meet_with(MEETING_ANY, 2, "weft 1");
	assert_int_equal(ends[1].rc, 0);
	assert_int_equal(ends[1].meeting.options.index, 1);
}

static void another_version_is_refused_at_both_ends(void **)
{
	meet_with(1, 2, "weft 2");
	are_refused("two versions: host 0 is weft 1, the other one is weft 2");
}

static void a_run_of_another_size_is_refused(void **)
{
	meet_with(1, 3, "weft 1");
	are_refused("host 0 waits for 2 hosts, the other one is of 3");
}

static void a_host_that_is_not_of_the_run_is_refused(void **)
{
	meet_with(2, 2, "weft 1");
	are_refused("host 2 is not of this run, which has 2 hosts");
	meet_with(7, 2, "weft 1");
	are_refused("host 7 is not of this run, which has 2 hosts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_fits_is_taken),
		cmocka_unit_test(another_version_is_refused_at_both_ends),
		cmocka_unit_test(a_run_of_another_size_is_refused),
		cmocka_unit_test(a_host_that_is_not_of_the_run_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
