// SPDX-License-Identifier: Apache-2.0
// Who meets and who does not: hosts of two versions, of runs of two sizes, twice the same host; and
// what host 0 gets of those that are still there.
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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

// ---------------------------------------------------------------- what hosts give behind a run

#define PART_BYTES 3000000u // more than a socket holds

enum { HOSTS = 4, GONE = 2, STUCK = 3 };
static struct meeting_part parts[HOSTS];
static bool is_over; // host 0 waits no more

static uint8_t byte_of(uint32_t host, size_t at)
{
	return (uint8_t)(at * 7 + host);
}

// Host GONE goes instead, and host STUCK says nothing until host 0 has stopped to wait.
static void *meet_and_give(void *context)
{
	struct end *end = context;
	uint32_t index = end->options.index;
	uint8_t said[MEETING_WORD_BYTES] = {0}, heard[MEETING_WORD_BYTES], mine = 1, all[HOSTS];
	uint8_t *data = malloc(PART_BYTES);
	for (size_t i = 0; i < PART_BYTES; i++)
		data[i] = byte_of(index, i);
	const struct meeting_part part = {data, PART_BYTES};
	end->rc = meeting_open(&end->meeting, &end->options, said, heard, &end->refusal);
	assert_int_equal(end->rc, 0);
	assert_int_equal(meeting_share(&end->meeting, &mine, all, 1, &end->refusal), 0);
	if (index == 1) { // words of a run are on their way before it
		assert_int_equal(meeting_watch(&end->meeting, &end->refusal), 0);
		meeting_unwatch(&end->meeting, true);
	}
	if (index != GONE && index != STUCK)
		end->rc = meeting_gather(&end->meeting, &part, parts, 1000 * (index == 0 ? 5 : 60),
					 &end->refusal);
	if (index == 0)
		__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	while (index == STUCK && !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		usleep(1000);
	meeting_close(&end->meeting);
	free(data);
	return NULL;
}

static void parts_come_from_those_that_are_there(void **)
{
	static struct end all[HOSTS];
	pthread_t threads[HOSTS];
	char name[64];
	snprintf(name, sizeof(name), "giving-%d", (int)getpid());
	for (uint32_t i = 0; i < HOSTS; i++) {
		all[i].options = (struct meeting_options){name, i, HOSTS, 60, "weft 1", NULL};
		assert_int_equal(pthread_create(&threads[i], NULL, meet_and_give, &all[i]), 0);
	}
	for (int i = 0; i < HOSTS; i++)
		pthread_join(threads[i], NULL);
	assert_null(parts[0].data);
	assert_null(parts[GONE].data);
	assert_null(parts[STUCK].data);
	assert_int_equal(parts[1].bytes, PART_BYTES);
	for (size_t i = 0; i < PART_BYTES; i++)
		assert_int_equal(((uint8_t *)parts[1].data)[i], byte_of(1, i));
	free(parts[1].data);
}
