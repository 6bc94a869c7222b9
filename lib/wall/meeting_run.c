// SPDX-License-Identifier: Apache-2.0
// While a run goes: a thread that sleeps until another host says something, or is gone. So the loop
// hears of it without a system call.

#include <weft/files/clock.h>
#include <weft/wall/meeting.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "word.h"

#define HERE_MS 500 // between two words that say no more than that a host is there

struct watch {
	struct meeting *meeting;
	struct pollfd polls[MEETING_HOSTS_MAX + 1]; // the last: the bell
	int64_t heard_ms[MEETING_HOSTS_MAX];	    // of polls: when it last said anything
	int64_t said_ms;			    // when this host did
	uint32_t done;				    // hosts that are
};

static void say(int socket, enum word_kind kind, uint32_t host)
{
	const struct word word = {kind, host};
	ssize_t sent = send(socket, &word, sizeof(word), MSG_NOSIGNAL);
	(void)sent; // who is gone shows when it is read from
}

// Host 0 tells all others.
static void tell_all(const struct meeting *meeting, enum word_kind kind, uint32_t host)
{
	for (uint32_t i = 1; i < meeting->options.count; i++)
		say(meeting->sockets[i], kind, host);
}

static void end(struct meeting *meeting, enum word_kind kind, uint32_t host)
{
	static const enum wall_news news[] = {WALL_QUIET, WALL_ENDED, WALL_STOPPED, WALL_LOST,
					      WALL_QUIET};
	if (meeting->options.index == 0)
		tell_all(meeting, kind, host);
	meeting->lost = host;
	__atomic_store_n(&meeting->news, (int)news[kind], __ATOMIC_RELEASE);
}

static void on_done(struct watch *watch)
{
	if (++watch->done == watch->meeting->options.count)
		end(watch->meeting, WORD_ENDED, 0);
}

// What another host says; `host` is who it comes from.
static void on_word(struct watch *watch, const struct word *word, uint32_t host)
{
	struct meeting *meeting = watch->meeting;
	switch ((enum word_kind)word->kind) {
	case WORD_DONE:
		on_done(watch);
		return;
	case WORD_ENDED:
	case WORD_LOST:
		end(meeting, (enum word_kind)word->kind, word->host);
		return;
	case WORD_STOPPED:
		end(meeting, WORD_STOPPED, host);
		return;
	case WORD_HERE:
		return;
	case WORD_SHARE:
	case WORD_PART:
		break;
	}
	end(meeting, WORD_LOST, host); // that is no word
}

static void hear(struct watch *watch, int socket, uint32_t host)
{
	struct word word;
	ssize_t count = recv(socket, &word, sizeof(word), MSG_WAITALL);
	if (count == (ssize_t)sizeof(word))
		on_word(watch, &word, host);
	else if (count >= 0 || errno != EINTR)
		end(watch->meeting, WORD_LOST, host);
}

// The loop of this host rings: it is done, or stops, or ('q') it knows already.
static bool hear_bell(struct watch *watch)
{
	struct meeting *meeting = watch->meeting;
	char what = 'q';
	ssize_t count = read(meeting->bell[0], &what, 1);
	bool is_first = meeting->options.index == 0;
	if (count != 1 || what == 'q')
		return false;
	if (what == 'd' && is_first)
		on_done(watch);
	else if (what == 'd')
		say(meeting->sockets[0], WORD_DONE, meeting->options.index);
	else if (is_first)
		end(meeting, WORD_STOPPED, 0);
	else
		say(meeting->sockets[0], WORD_STOPPED, meeting->options.index);
	return what == 'd';
}

// Host 0 listens to all others, they to host 0.
static uint32_t fill_polls(struct watch *watch)
{
	const struct meeting *meeting = watch->meeting;
	bool is_first = meeting->options.index == 0;
	uint32_t count = is_first ? meeting->options.count - 1 : 1;
	for (uint32_t i = 0; i < count; i++)
		watch->polls[i] = (struct pollfd){.fd = meeting->sockets[is_first ? i + 1 : 0],
						  .events = POLLIN};
	watch->polls[count] = (struct pollfd){.fd = meeting->bell[0], .events = POLLIN};
	return count;
}

// A host that runs no more, and whose machine keeps its socket, is gone all the same.
static void say_here(struct watch *watch, uint32_t count, int64_t now)
{
	struct meeting *meeting = watch->meeting;
	bool is_first = meeting->options.index == 0;
	if (now - watch->said_ms >= HERE_MS) {
		watch->said_ms = now;
		if (is_first)
			tell_all(meeting, WORD_HERE, 0);
		else
			say(meeting->sockets[0], WORD_HERE, meeting->options.index);
	}
	for (uint32_t i = 0; i < count && meeting->news == WALL_QUIET; i++)
		if (now - watch->heard_ms[i] > meeting->options.timeout_s * INT64_C(1000)) {
			meeting->is_silent = true;
			end(meeting, WORD_LOST, is_first ? i + 1 : 0);
		}
}

static void *watch_all(void *context)
{
	struct watch *watch = context;
	struct meeting *meeting = watch->meeting;
	bool is_first = meeting->options.index == 0;
	uint32_t count = fill_polls(watch);
	int64_t now = clock_ms(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < count; i++)
		watch->heard_ms[i] = now;
	while (meeting->news == WALL_QUIET) {
		if (poll(watch->polls, count + 1, HERE_MS) < 0)
			continue;
		now = clock_ms(CLOCK_MONOTONIC);
		for (uint32_t i = 0; i < count && meeting->news == WALL_QUIET; i++)
			if (watch->polls[i].revents != 0) {
				watch->heard_ms[i] = now;
				hear(watch, watch->polls[i].fd, is_first ? i + 1 : 0);
			}
		say_here(watch, count, now);
		if (watch->polls[count].revents != 0 && !hear_bell(watch))
			break;
	}
	free(watch);
	return NULL;
}

int meeting_watch(struct meeting *meeting, struct refusal *refusal)
{
	sigset_t all, before;
	struct watch *watch = calloc(1, sizeof(*watch));
	if (watch == NULL)
		return refuse(refusal, -ENODEV, "no memory for a thread that listens");
	watch->meeting = meeting;
	meeting->news = WALL_QUIET;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); // signals are the loop's
	int rc = pthread_create(&meeting->watch, NULL, watch_all, watch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0) {
		free(watch);
		return refuse(refusal, -ENODEV, "no thread that listens to other hosts");
	}
	meeting->is_watched = true;
	return 0;
}

static void ring(struct meeting *meeting, char what)
{
	ssize_t written = write(meeting->bell[1], &what, 1);
	check(written == 1); // the pipe holds more than is ever rung
}

void meeting_done(void *meeting)
{
	ring(meeting, 'd');
}

enum wall_news meeting_unwatch(struct meeting *meeting, bool is_stopping)
{
	char left[8];
	if (!meeting->is_watched)
		return (enum wall_news)meeting->news;
	ring(meeting, is_stopping ? 's' : 'q');
	pthread_join(meeting->watch, NULL);
	meeting->is_watched = false;
	for (struct pollfd bell = {.fd = meeting->bell[0], .events = POLLIN};
	     poll(&bell, 1, 0) > 0;) // the watch had gone before it was rung
		if (read(meeting->bell[0], left, sizeof(left)) <= 0)
			break;
	return (enum wall_news)meeting->news;
}
