// SPDX-License-Identifier: Apache-2.0
// Behind a run: what each host has comes to host 0, as far as they are still there. See meeting.h.

#include <weft/files/clock.h>
#include <weft/wall/meeting.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "word.h"

#define PART_BYTES_MAX (UINT64_C(1) << 32)

// What comes from one host: words that are left of the run, one that says how much, the part.
struct coming {
	struct word word;
	uint64_t bytes;
	size_t at; // of all these
	uint8_t *data;
	bool is_over;
};

// Waits for at most what is left until the deadline. Whether there is anything.
static bool await(struct pollfd *polls, uint32_t count, int64_t deadline_ms)
{
	int64_t left_ms = deadline_ms - clock_ms(CLOCK_MONOTONIC);
	return poll(polls, count, left_ms > 0 ? (int)left_ms : 0) > 0;
}

// ---------------------------------------------------------------- giving

static bool send_all(int socket, const void *from, size_t bytes, int64_t deadline_ms)
{
	struct pollfd one = {.fd = socket, .events = POLLOUT};
	for (size_t at = 0; at < bytes;) {
		ssize_t count = await(&one, 1, deadline_ms)
			? send(socket, (const uint8_t *)from + at, bytes - at,
			       MSG_NOSIGNAL | MSG_DONTWAIT)
			: 0;
		if (count <= 0 && (count == 0 || (errno != EINTR && errno != EAGAIN)))
			return false;
		at += count > 0 ? (size_t)count : 0;
	}
	return true;
}

static void give(const struct meeting *meeting, const struct meeting_part *mine,
		 int64_t deadline_ms)
{
	const struct word word = {.kind = WORD_PART};
	int socket = meeting->sockets[0];
	if (send_all(socket, &word, sizeof(word), deadline_ms) &&
	    send_all(socket, &mine->bytes, sizeof(mine->bytes), deadline_ms))
		send_all(socket, mine->data, mine->bytes, deadline_ms);
}

// ---------------------------------------------------------------- taking

// Where what comes next goes, and how much of it is missing; 0: nothing is.
static size_t room_of(struct coming *coming, uint8_t **ret)
{
	size_t at = coming->at, head = sizeof(coming->word) + sizeof(coming->bytes);
	if (at < sizeof(coming->word)) {
		*ret = (uint8_t *)&coming->word + at;
		return sizeof(coming->word) - at;
	}
	if (at < head) {
		*ret = (uint8_t *)&coming->bytes + (at - sizeof(coming->word));
		return head - at;
	}
	*ret = coming->data + (at - head);
	return coming->bytes - (at - head);
}

// Behind each piece that came whole: a word that belongs to the run is passed over.
static void look(struct coming *coming)
{
	if (coming->at == sizeof(coming->word) && coming->word.kind == WORD_SHARE)
		coming->is_over = true; // another talk: what follows means nothing here
	else if (coming->at == sizeof(coming->word) && coming->word.kind != WORD_PART)
		coming->at = 0;
	if (coming->at != sizeof(coming->word) + sizeof(coming->bytes) || coming->data != NULL)
		return;
	coming->data = coming->bytes <= PART_BYTES_MAX ? malloc(coming->bytes + 1) : NULL;
	coming->is_over = coming->data == NULL;
}

static void hear(struct coming *coming, int socket)
{
	uint8_t *to;
	size_t room = room_of(coming, &to);
	ssize_t count = recv(socket, to, room, MSG_DONTWAIT);
	if (count <= 0) {
		coming->is_over = count == 0 || (errno != EINTR && errno != EAGAIN);
		return;
	}
	coming->at += (size_t)count;
	if ((size_t)count < room)
		return;
	look(coming);
	coming->is_over |= coming->data != NULL && room_of(coming, &to) == 0;
}

// The sockets of hosts from which more is to come.
static uint32_t fill_polls(const struct meeting *meeting, const struct coming *coming,
			   struct pollfd *polls, uint32_t *hosts)
{
	uint32_t count = 0;
	for (uint32_t host = 1; host < meeting->options.count; host++) {
		if (coming[host].is_over)
			continue;
		hosts[count] = host;
		polls[count++] = (struct pollfd){.fd = meeting->sockets[host], .events = POLLIN};
	}
	return count;
}

static void take(const struct meeting *meeting, struct coming *coming, int64_t deadline_ms)
{
	struct pollfd polls[MEETING_HOSTS_MAX];
	uint32_t hosts[MEETING_HOSTS_MAX], count;
	while ((count = fill_polls(meeting, coming, polls, hosts)) > 0 &&
	       await(polls, count, deadline_ms))
		for (uint32_t i = 0; i < count; i++)
			if (polls[i].revents != 0)
				hear(&coming[hosts[i]], polls[i].fd);
}

int meeting_gather(struct meeting *meeting, const struct meeting_part *mine,
		   struct meeting_part *all, uint32_t timeout_ms, struct refusal *refusal)
{
	int64_t deadline_ms = clock_ms(CLOCK_MONOTONIC) + timeout_ms;
	uint32_t hosts = meeting->options.count;
	if (meeting->options.index != 0) {
		give(meeting, mine, deadline_ms);
		return 0;
	}
	struct coming *coming = calloc(hosts, sizeof(*coming));
	if (coming == NULL)
		return refuse(refusal, -ENOMEM, "no memory for what hosts give");
	take(meeting, coming, deadline_ms);
	for (uint32_t host = 0; host < hosts; host++) {
		uint8_t *end;
		bool is_whole = coming[host].data != NULL && room_of(&coming[host], &end) == 0;
		all[host] = is_whole ? (struct meeting_part){coming[host].data, coming[host].bytes}
				     : (struct meeting_part){NULL, 0};
		if (!is_whole)
			free(coming[host].data);
	}
	free(coming);
	return 0;
}
