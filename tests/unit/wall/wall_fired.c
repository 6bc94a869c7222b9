// SPDX-License-Identifier: Apache-2.0
// Triggers that start flows at other hosts, on their way over a meeting: each of its hosts gets all
// that the others fired, before anybody is told that all are done; who says what no host of the run
// can say is lost.
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/wall/fired.h>
#include <weft/wall/meeting.h>

enum { HOSTS = 4, EACH = 8000 }; // words of a host, which no socket holds

struct end {
	struct meeting meeting;
	struct meeting_options options;
	struct refusal refusal;
	struct fired fired;
	uint32_t heard[HOSTS]; // from each
	enum wall_news news;
};

static struct end ends[HOSTS];
static uint32_t bad_host, bad_trigger; // who says it, behind half of what is right; 0: nobody

static void list_init(struct fired_list *list, uint32_t capacity)
{
	*list = (struct fired_list){.list = calloc(capacity, sizeof(*list->list)),
				    .capacity = capacity};
	assert_non_null(list->list);
}

static void fire(struct end *end, uint32_t trigger)
{
	const struct signal signal = {.from = end->options.index, .trigger = trigger};
	assert_true(fired_put(&end->fired.out, &signal));
	if (!__atomic_exchange_n(&end->fired.is_rung, true, __ATOMIC_ACQ_REL))
		end->fired.ring(end->fired.context);
}

// In the order in which each of them fired.
static void hear(struct end *end)
{
	struct signal signal;
	while (fired_take(&end->fired.in, &signal))
		assert_int_equal(signal.trigger, ++end->heard[signal.from]);
}

static void *take_part(void *context)
{
	struct end *end = context;
	uint32_t index = end->options.index;
	uint8_t said[MEETING_WORD_BYTES] = {0}, heard[MEETING_WORD_BYTES], mine = 1, all[HOSTS];
	end->fired = (struct fired){.hosts = HOSTS, .triggers = EACH};
	list_init(&end->fired.out, EACH);
	list_init(&end->fired.in, EACH * (HOSTS - 1));
	assert_int_equal(meeting_open(&end->meeting, &end->options, said, heard, &end->refusal), 0);
	end->meeting.fired = &end->fired;
	assert_int_equal(meeting_share(&end->meeting, &mine, all, 1, &end->refusal), 0);
	assert_int_equal(meeting_watch(&end->meeting, &end->refusal), 0);
	for (uint32_t i = 1; i <= EACH; i++) {
		bool is_bad = bad_trigger > 0 && index == bad_host && i > EACH / 2;
		fire(end, is_bad ? bad_trigger : i);
		hear(end);
	}
	meeting_done(&end->meeting);
	while (end->meeting.news == WALL_QUIET)
		hear(end);
	end->news = (enum wall_news)end->meeting.news;
	hear(end);
	meeting_unwatch(&end->meeting, false);
	assert_null(end->meeting.fired);
	meeting_close(&end->meeting);
	free(end->fired.out.list);
	free(end->fired.in.list);
	return NULL;
}

static void run(uint32_t host, uint32_t trigger)
{
	static int number;
	pthread_t threads[HOSTS];
	static char name[64];
	bad_host = host;
	bad_trigger = trigger;
	snprintf(name, sizeof(name), "fired-%d-%d", (int)getpid(), number++);
	for (uint32_t i = 0; i < HOSTS; i++) {
		ends[i] = (struct end){.options = {name, i, HOSTS, 60, "weft 1", NULL}};
		assert_int_equal(pthread_create(&threads[i], NULL, take_part, &ends[i]), 0);
	}
	for (uint32_t i = 0; i < HOSTS; i++)
		pthread_join(threads[i], NULL);
}

static void all_get_what_all_fired(void **)
{
	run(0, 0);
	for (uint32_t i = 0; i < HOSTS; i++) {
		assert_int_equal(ends[i].news, WALL_ENDED);
		for (uint32_t from = 0; from < HOSTS; from++)
			assert_int_equal(ends[i].heard[from], from == i ? 0 : EACH);
	}
}

static void a_trigger_that_is_not_there_ends_the_run(void **)
{
	run(2, EACH + 1);
	for (uint32_t i = 0; i < HOSTS; i++) {
		assert_int_equal(ends[i].news, WALL_LOST);
		assert_in_range(ends[i].heard[2], 0, EACH / 2);
	}
}

static void what_fits_is_of_the_world(void **)
{
	const struct fired fired = {.hosts = 2, .triggers = 3, .flows = 4};
	const struct signal good = {.from = 1, .trigger = 3, .flow = 4};
	struct signal signal = good;
	assert_true(fired_fits(&fired, &signal, 1));
	assert_false(fired_fits(&fired, &signal, 0));
	signal.trigger = 0;
	assert_false(fired_fits(&fired, &signal, 1));
	signal = good;
	signal.flow = 5;
	assert_false(fired_fits(&fired, &signal, 1));
	signal = good;
	signal.from = 2;
	assert_false(fired_fits(&fired, &signal, 2));
}

static void a_full_list_takes_no_more(void **)
{
	struct signal one = {.trigger = 1}, ret;
	struct fired_list list;
	list_init(&list, 1);
	assert_false(fired_take(&list, &ret));
	assert_true(fired_put(&list, &one));
	assert_false(fired_put(&list, &one));
	assert_true(fired_take(&list, &ret));
	assert_false(fired_take(&list, &ret));
	free(list.list);
}
