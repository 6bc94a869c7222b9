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
	bool owes_done; // this host is, which goes out behind what it fired
};

// A socket that has room takes a word whole.
static bool has_room(int socket, int wait_ms)
{
	struct pollfd poll_of = {.fd = socket, .events = POLLOUT};
	return poll(&poll_of, 1, wait_ms) > 0 && (poll_of.revents & POLLOUT) != 0;
}

static void put(int socket, const struct word *word)
{
	ssize_t sent = send(socket, word, sizeof(*word), MSG_NOSIGNAL);
	(void)sent; // who is gone shows when it is read from
}

// Nothing to who has not read for long: it is stuck, or stopped, and nobody waits for it here.
static void say(int socket, enum word_kind kind, uint32_t host)
{
	const struct word word = {.kind = kind, .host = host};
	if (has_room(socket, 0))
		put(socket, &word);
}

// Host 0 tells all others.
static void tell_all(const struct meeting *meeting, enum word_kind kind, uint32_t host)
{
	for (uint32_t i = 1; i < meeting->options.count; i++)
		say(meeting->sockets[i], kind, host);
}

static void end(struct meeting *meeting, enum word_kind kind, uint32_t host)
{
	static const enum wall_news news[] = {
		[WORD_ENDED] = WALL_ENDED, [WORD_STOPPED] = WALL_STOPPED, [WORD_LOST] = WALL_LOST};
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

// ---------------------------------------------------------------- what was fired

#define STEP_MS 100	 // between two looks at a signal
#define FIRED_AT_ONCE 16 // words that a socket with room takes

// Host 0: to all but who fired it. A host that does not take it in the time in which it has to say
// something is lost.
static void relay(struct watch *watch, const struct signal *signal)
{
	struct meeting *meeting = watch->meeting;
	const struct word word = {.kind = WORD_FIRED, .signal = *signal};
	for (uint32_t i = 1; i < meeting->options.count; i++) {
		if (i == signal->from)
			continue;
		int64_t deadline_ms = clock_ms(CLOCK_MONOTONIC) +
			meeting->options.timeout_s * INT64_C(1000);
		bool fits = has_room(meeting->sockets[i], 0);
		while (!fits && clock_ms(CLOCK_MONOTONIC) < deadline_ms &&
		       (meeting->options.stop == NULL || *meeting->options.stop == 0))
			fits = has_room(meeting->sockets[i], STEP_MS);
		if (!fits) {
			end(meeting, WORD_LOST, i);
			return;
		}
		put(meeting->sockets[i], &word);
	}
}

// Host 0: what its own loop fired.
static void relay_own(struct watch *watch)
{
	struct signal signal;
	while (watch->meeting->fired != NULL && fired_take(&watch->meeting->fired->out, &signal))
		relay(watch, &signal);
}

// The others: whether anything has to go to host 0.
static bool owes(const struct watch *watch)
{
	const struct fired *fired = watch->meeting->fired;
	return watch->owes_done ||
		(fired != NULL &&
		 fired->out.taken < __atomic_load_n(&fired->out.count, __ATOMIC_ACQUIRE));
}

// The others, only when the socket has room: while they waited for that they would not read, and
// host 0, which waits for them to read, would not either.
static void pay(struct watch *watch)
{
	struct meeting *meeting = watch->meeting;
	struct word words[FIRED_AT_ONCE] = {0};
	uint32_t count = 0;
	while (count < FIRED_AT_ONCE && meeting->fired != NULL &&
	       fired_take(&meeting->fired->out, &words[count].signal))
		words[count++].kind = WORD_FIRED;
	if (count < FIRED_AT_ONCE && watch->owes_done) {
		words[count].kind = WORD_DONE;
		words[count++].host = meeting->options.index;
		watch->owes_done = false;
	}
	ssize_t sent = send(meeting->sockets[0], words, count * sizeof(*words), MSG_NOSIGNAL);
	(void)sent; // who is gone shows when it is read from
}

// `host` is who it comes from.
static void on_fired(struct watch *watch, const struct signal *signal, uint32_t host)
{
	struct meeting *meeting = watch->meeting;
	bool is_first = meeting->options.index == 0;
	if (meeting->fired == NULL ||
	    !fired_fits(meeting->fired, signal, is_first ? host : signal->from) ||
	    !fired_put(&meeting->fired->in, signal))
		end(meeting, WORD_LOST, host); // no host of this run says it
	else if (is_first)
		relay(watch, signal);
}

// ---------------------------------------------------------------- words

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
	case WORD_FIRED:
		on_fired(watch, &word->signal, host);
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

// The loop of this host rings: it fired something, is done, or stops, or ('q') it knows already.
static bool hear_bell(struct watch *watch)
{
	struct meeting *meeting = watch->meeting;
	char what = 'q';
	ssize_t count = read(meeting->bell[0], &what, 1);
	bool is_first = meeting->options.index == 0;
	if (count != 1 || what == 'q')
		return false;
	if (what == 'f')
		__atomic_store_n(&meeting->fired->is_rung, false, __ATOMIC_RELEASE);
	if (is_first && what != 's')
		relay_own(watch);
	if (what == 'd' && is_first)
		on_done(watch);
	else if (what == 'd')
		watch->owes_done = true;
	else if (what == 'f')
		return true;
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
		if (!is_first)
			watch->polls[0].events = (short)(owes(watch) ? POLLIN | POLLOUT : POLLIN);
		if (poll(watch->polls, count + 1, HERE_MS) < 0)
			continue;
		now = clock_ms(CLOCK_MONOTONIC);
		for (uint32_t i = 0; i < count && meeting->news == WALL_QUIET; i++)
			if ((watch->polls[i].revents & ~POLLOUT) != 0) {
				watch->heard_ms[i] = now;
				hear(watch, watch->polls[i].fd, is_first ? i + 1 : 0);
			}
		if (!is_first && (watch->polls[0].revents & POLLOUT) != 0)
			pay(watch);
		say_here(watch, count, now);
		if (watch->polls[count].revents != 0 && !hear_bell(watch))
			break;
	}
	free(watch);
	return NULL;
}

static void ring(struct meeting *meeting, char what)
{
	ssize_t written = write(meeting->bell[1], &what, 1);
	check(written == 1); // the pipe holds more than is ever rung
}

static void ring_fired(void *meeting)
{
	ring(meeting, 'f');
}

int meeting_watch(struct meeting *meeting, struct refusal *refusal)
{
	sigset_t all, before;
	struct watch *watch = calloc(1, sizeof(*watch));
	if (watch == NULL)
		return refuse(refusal, -ENODEV, "no memory for a thread that listens");
	watch->meeting = meeting;
	meeting->news = WALL_QUIET;
	if (meeting->fired != NULL) {
		meeting->fired->context = meeting;
		meeting->fired->ring = ring_fired;
	}
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
	meeting->fired = NULL;
	for (struct pollfd bell = {.fd = meeting->bell[0], .events = POLLIN};
	     poll(&bell, 1, 0) > 0;) // the watch had gone before it was rung
		if (read(meeting->bell[0], left, sizeof(left)) <= 0)
			break;
	return (enum wall_news)meeting->news;
}
