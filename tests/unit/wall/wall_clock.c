// SPDX-License-Identifier: Apache-2.0
// Clocks of hosts that are known to differ: two threads, one of which has a clock of its own, meet.
// Whatever the machine does meanwhile, the truth lies within the error that is told.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <weft/wall/meeting.h>

#define AHEAD_NS INT64_C(5000000000)
#define SLOW 1000 // host 1 loses a part in so many
#define TIMES 8
#define LEAD_NS INT64_C(20000000)

static int64_t true_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t began_ns;

// Host 0's is ahead of the truth, host 1's slow.
static int64_t clock_ns(void *context)
{
	int64_t since_ns = true_ns() - began_ns;
	return *(const uint32_t *)context == 0 ? since_ns + AHEAD_NS : since_ns - since_ns / SLOW;
}

struct end {
	uint32_t index;
	struct meeting_clock read[TIMES];
	int64_t moment_ns; // to begin at
	int rc;
};

static void *meet(void *context)
{
	struct end *end = context;
	static struct meeting meetings[2];
	struct meeting *meeting = &meetings[end->index];
	struct refusal refusal;
	char name[64];
	uint8_t said[MEETING_WORD_BYTES] = {0}, heard[MEETING_WORD_BYTES];
	snprintf(name, sizeof(name), "clock-%d", (int)getpid());
	const struct meeting_options options = {.address = name,
						.index = end->index,
						.count = 2,
						.timeout_s = 60,
						.version = "test"};
	end->rc = meeting_open(meeting, &options, said, heard, &refusal);
	for (int i = 0; end->rc == 0 && i < TIMES; i++) {
		end->rc = meeting_clock(meeting, clock_ns, &end->index, &end->read[i], &refusal);
		usleep(20000);
	}
	if (end->rc == 0)
		end->rc = meeting_moment(meeting, clock_ns(&end->index), LEAD_NS,
					 &end->read[TIMES - 1], &end->moment_ns, &refusal);
	meeting_close(meeting);
	return NULL;
}

static struct end ends[2];

static int set_up_all(void **state)
{
	pthread_t threads[2];
	(void)state;
	began_ns = true_ns();
	for (uint32_t i = 0; i < 2; i++) {
		ends[i] = (struct end){.index = i};
		if (pthread_create(&threads[i], NULL, meet, &ends[i]) != 0)
			return -1;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return ends[0].rc | ends[1].rc;
}

// What host 0's clock shows more than host 1's, when that one shows `at_ns`.
static int64_t truth_ns(int64_t at_ns)
{
	return AHEAD_NS + at_ns / (SLOW - 1);
}

static void the_truth_lies_within_the_error(void **)
{
	for (int i = 0; i < TIMES; i++) {
		const struct meeting_clock *read = &ends[1].read[i];
		int64_t off_ns = llabs(read->offset_ns - truth_ns(read->at_ns));
		assert_true(read->error_ns > 0);
		if (off_ns > read->error_ns + read->error_ns / SLOW + 2)
			fail_msg("%lld ns off, and %lld told", (long long)off_ns,
				 (long long)read->error_ns);
	}
}

static void a_clock_that_runs_slow_is_seen_to(void **)
{
	const struct meeting_clock *first = &ends[1].read[0], *last = &ends[1].read[TIMES - 1];
	int64_t moved_ns = last->offset_ns - first->offset_ns;
	int64_t error_ns = first->error_ns + last->error_ns;
	int64_t truth = truth_ns(last->at_ns) - truth_ns(first->at_ns);
	assert_true(truth >= (TIMES - 1) * 20000000 / SLOW);
	assert_true(llabs(moved_ns - truth) <= error_ns + error_ns / SLOW + 4);
}

// The moment by either clock is one and the same, but for what the reading is off by and what host
// 1's clock has lost since.
static void a_moment_is_the_same_for_both(void **)
{
	const struct meeting_clock *read = &ends[1].read[TIMES - 1];
	int64_t by_0_ns = ends[0].moment_ns - AHEAD_NS; // since they began
	int64_t by_1_ns = ends[1].moment_ns + ends[1].moment_ns / (SLOW - 1);
	int64_t lost_ns = (ends[1].moment_ns - read->at_ns) / (SLOW - 1);
	int64_t off_ns = llabs(by_1_ns - by_0_ns - lost_ns);
	assert_true(lost_ns >= LEAD_NS / SLOW);
	if (off_ns > read->error_ns + read->error_ns / SLOW + 4)
		fail_msg("%lld ns off, and %lld told", (long long)off_ns,
			 (long long)read->error_ns);
}

static void host_0_has_its_own(void **)
{
	for (int i = 0; i < TIMES; i++) {
		assert_int_equal(ends[0].read[i].offset_ns, 0);
		assert_int_equal(ends[0].read[i].error_ns, 0);
		assert_true(ends[0].read[i].at_ns >= AHEAD_NS);
	}
}
