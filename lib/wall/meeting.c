// SPDX-License-Identifier: Apache-2.0
// Before a run: who is there, and what all have in common. See meeting.h.

#include <weft/files/clock.h>
#include <weft/wall/meeting.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "word.h"

#define VERSION_BYTES 96
#define STEP_MS 100 // between two looks at a signal
#define MAGIC "weft host 1"

// What hosts say first.
struct hello {
	char magic[16];
	char version[VERSION_BYTES];
	uint32_t index, count;
	char why[160]; // host 0: not empty, it refuses
	uint8_t word[MEETING_WORD_BYTES];
};

static bool is_stopped(const struct meeting *meeting)
{
	return meeting->options.stop != NULL && *meeting->options.stop != 0;
}

static int64_t deadline_of(const struct meeting *meeting)
{
	return clock_ms(CLOCK_MONOTONIC) + meeting->options.timeout_s * INT64_C(1000);
}

static int refuse_text(struct refusal *refusal, int code, const char *format, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), format, word);
	return code;
}

// ---------------------------------------------------------------- bytes

// Waits until a socket may be read. -ETIMEDOUT, -EINTR.
static int await(const struct meeting *meeting, int socket, int64_t deadline_ms)
{
	for (;;) {
		struct pollfd poll_of = {.fd = socket, .events = POLLIN};
		if (is_stopped(meeting))
			return -EINTR;
		if (poll(&poll_of, 1, STEP_MS) > 0)
			return 0;
		if (clock_ms(CLOCK_MONOTONIC) > deadline_ms)
			return -ETIMEDOUT;
	}
}

static int read_all(const struct meeting *meeting, int socket, void *ret, size_t bytes,
		    int64_t deadline_ms)
{
	for (size_t at = 0; at < bytes;) {
		int rc = await(meeting, socket, deadline_ms);
		if (rc < 0)
			return rc;
		ssize_t count = recv(socket, (uint8_t *)ret + at, bytes - at, 0);
		if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
			return -ECONNRESET;
		at += count > 0 ? (size_t)count : 0;
	}
	return 0;
}

static int write_all(int socket, const void *from, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		ssize_t count = send(socket, (const uint8_t *)from + at, bytes - at, MSG_NOSIGNAL);
		if (count < 0 && errno != EINTR)
			return -ECONNRESET;
		at += count > 0 ? (size_t)count : 0;
	}
	return 0;
}

static int refuse_peer(struct refusal *refusal, int rc, uint32_t host, uint32_t timeout_s)
{
	if (rc == -EINTR)
		return refuse(refusal, rc, "interrupted while it waited for host %", host);
	if (rc == -ETIMEDOUT)
		return refuse(refusal, -ECONNRESET, "host % said nothing for % s", host, timeout_s);
	return refuse(refusal, -ECONNRESET, "host % is gone", host);
}

// ---------------------------------------------------------------- addresses

// A name's address: not in the file system, and another for each user.
static socklen_t name_address(const char *name, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	int length = snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "weft-%u-%s",
			      (unsigned)getuid(), name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int name_socket(const struct meeting *meeting, bool listens, struct refusal *refusal)
{
	struct sockaddr_un address;
	const char *name = meeting->options.address;
	if (strlen(name) > sizeof(address.sun_path) - 24)
		return refuse_text(refusal, -EINVAL, "this name is too long: %.100s", name);
	socklen_t length = name_address(name, &address);
	int found = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (found < 0)
		return refuse_text(refusal, -ENODEV, "no socket: %s", strerror(errno));
	const struct sockaddr *to = (const struct sockaddr *)&address;
	int rc = listens ? bind(found, to, length) : connect(found, to, length);
	if (rc == 0)
		return found;
	rc = -errno;
	close(found);
	return rc;
}

// Cuts HOST:PORT, where HOST may stand in brackets.
static int cut_address(const char *address, char *host, size_t bytes, char *port, size_t port_bytes)
{
	const char *colon = strrchr(address, ':');
	size_t length = (size_t)(colon - address);
	if (length >= 2 && address[0] == '[' && colon[-1] == ']') {
		address++;
		length -= 2;
	}
	if (length >= bytes || strlen(colon + 1) >= port_bytes || colon[1] == '\0')
		return -EINVAL;
	memcpy(host, address, length);
	host[length] = '\0';
	strcpy(port, colon + 1);
	return 0;
}

static bool is_port(const char *word)
{
	char *end;
	unsigned long port = strtoul(word, &end, 10);
	return word[0] >= '0' && word[0] <= '9' && *end == '\0' && port >= 1 && port <= 65535;
}

// A socket of one of the addresses that a name of the network has. -errno of the last one.
static int try_addresses(const struct addrinfo *list, bool listens)
{
	int last = -EADDRNOTAVAIL;
	for (const struct addrinfo *at = list; at != NULL; at = at->ai_next) {
		int on = 1, found = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (found < 0) {
			last = -errno;
			continue;
		}
		setsockopt(found, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		setsockopt(found, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if ((listens ? bind(found, at->ai_addr, at->ai_addrlen)
			     : connect(found, at->ai_addr, at->ai_addrlen)) == 0)
			return found;
		last = -errno;
		close(found);
	}
	return last;
}

static int network_socket(const struct meeting *meeting, bool listens, struct refusal *refusal)
{
	char host[256], port[16];
	const char *address = meeting->options.address;
	struct addrinfo *list;
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = listens ? AI_PASSIVE : 0};
	if (cut_address(address, host, sizeof(host), port, sizeof(port)) < 0)
		return refuse_text(refusal, -EINVAL, "no address HOST:PORT: '%.200s'", address);
	if (!is_port(port))
		return refuse_text(refusal, -EINVAL, "a port is a number from 1 to 65535: '%.200s'",
				   address);
	int rc = getaddrinfo(host[0] != '\0' ? host : NULL, port, &hints, &list);
	if (rc != 0)
		return refuse_text(refusal, -EINVAL, "no such address: %s", gai_strerror(rc));
	rc = try_addresses(list, listens);
	freeaddrinfo(list);
	return rc;
}

// A socket that is bound or joined; or -errno, with a reason where trying again is no use.
static int open_socket(const struct meeting *meeting, bool listens, struct refusal *refusal)
{
	refusal->text[0] = '\0';
	return strchr(meeting->options.address, ':') == NULL
		? name_socket(meeting, listens, refusal)
		: network_socket(meeting, listens, refusal);
}

static int refuse_socket(const struct meeting *meeting, int rc, struct refusal *refusal)
{
	if (refusal->text[0] != '\0')
		return rc;
	snprintf(refusal->text, sizeof(refusal->text), "%.200s: %s", meeting->options.address,
		 strerror(-rc));
	return rc == -EADDRINUSE ? -EBUSY : -ENODEV;
}

// ---------------------------------------------------------------- greetings

static void greet(const struct meeting *meeting, const void *said, struct hello *ret)
{
	*ret = (struct hello){
		.magic = MAGIC, .index = meeting->options.index, .count = meeting->options.count};
	snprintf(ret->version, sizeof(ret->version), "%s", meeting->options.version);
	memcpy(ret->word, said, sizeof(ret->word));
}

// The first host that is not here yet.
static uint32_t free_index(const struct meeting *meeting)
{
	uint32_t index = 1;
	while (index < meeting->options.count && meeting->sockets[index] >= 0)
		index++;
	return index;
}

// Why host 0 does not take who calls; an empty text if it does.
static void judge(const struct meeting *meeting, const struct hello *hello, char *ret, size_t bytes)
{
	ret[0] = '\0';
	if (memcmp(hello->magic, MAGIC, sizeof(MAGIC)) != 0)
		snprintf(ret, bytes, "the caller is not a weft host");
	else if (strncmp(hello->version, meeting->options.version, VERSION_BYTES - 1) != 0)
		snprintf(ret, bytes, "two versions: host 0 is %.50s, the other one is %.50s",
			 meeting->options.version, hello->version);
	else if (hello->count != meeting->options.count)
		snprintf(ret, bytes, "host 0 waits for %u hosts, the other one is of %u",
			 meeting->options.count, hello->count);
	else if (hello->index >= meeting->options.count)
		snprintf(ret, bytes, "host %u is not of this run, which has %u hosts", hello->index,
			 meeting->options.count);
	else if (hello->index == 0 || meeting->sockets[hello->index] >= 0)
		snprintf(ret, bytes, "there are two hosts %u", hello->index);
}

// Takes one caller. -EINVAL: it is none of ours.
static int take_caller(struct meeting *meeting, int caller, const struct hello *mine, void *heard,
		       struct refusal *refusal)
{
	struct hello hello, answer = *mine;
	int rc = read_all(meeting, caller, &hello, sizeof(hello), deadline_of(meeting));
	if (rc < 0) // it looked whether somebody is here
		return rc == -ECONNRESET ? 0 : refuse_peer(refusal, rc, 1, 0);
	hello.version[VERSION_BYTES - 1] = '\0';
	if (hello.index == MEETING_ANY)
		hello.index = free_index(meeting);
	answer.index = hello.index;
	judge(meeting, &hello, answer.why, sizeof(answer.why));
	write_all(caller, &answer, sizeof(answer));
	if (answer.why[0] != '\0')
		return refuse_text(refusal, -EINVAL, "%s", answer.why);
	meeting->sockets[hello.index] = caller;
	memcpy(heard, hello.word, sizeof(hello.word));
	return 1;
}

static int host_all(struct meeting *meeting, const struct hello *mine, void *heard,
		    struct refusal *refusal)
{
	int64_t deadline_ms = deadline_of(meeting);
	int listener = open_socket(meeting, true, refusal), rc = 0;
	if (listener < 0 || listen(listener, (int)meeting->options.count) != 0)
		return refuse_socket(meeting, listener < 0 ? listener : -errno, refusal);
	for (uint32_t count = 1; rc >= 0 && count < meeting->options.count;) {
		rc = await(meeting, listener, deadline_ms);
		if (rc < 0) {
			refuse(refusal, rc,
			       rc == -EINTR ? "interrupted while it waited for others"
					    : "% of % hosts came within % s",
			       count, meeting->options.count, meeting->options.timeout_s);
			break;
		}
		int caller = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		rc = caller < 0 ? 0 : take_caller(meeting, caller, mine, heard, refusal);
		if (caller >= 0 && rc <= 0)
			close(caller);
		count += rc > 0;
	}
	close(listener);
	return rc < 0 ? rc : 0;
}

static int join_host(struct meeting *meeting, const struct hello *mine, void *heard,
		     struct refusal *refusal)
{
	int64_t deadline_ms = deadline_of(meeting);
	struct hello answer;
	int found;
	while ((found = open_socket(meeting, false, refusal)) < 0) {
		if (refusal->text[0] != '\0')
			return found;
		if (is_stopped(meeting))
			return refuse_peer(refusal, -EINTR, 0, 0);
		if (clock_ms(CLOCK_MONOTONIC) > deadline_ms && found == -ECONNREFUSED)
			return refuse_text(refusal, -ENODEV,
					   "nobody waited at %.200s for as long as this end called",
					   meeting->options.address);
		if (clock_ms(CLOCK_MONOTONIC) > deadline_ms)
			return refuse_socket(meeting, found, refusal);
		usleep(STEP_MS * 1000);
	}
	meeting->sockets[0] = found;
	int rc = write_all(found, mine, sizeof(*mine));
	if (rc == 0)
		rc = read_all(meeting, found, &answer, sizeof(answer), deadline_ms);
	if (rc < 0)
		return refuse_peer(refusal, rc, 0, meeting->options.timeout_s);
	answer.why[sizeof(answer.why) - 1] = '\0';
	if (memcmp(answer.magic, MAGIC, sizeof(MAGIC)) != 0)
		return refuse_text(refusal, -EINVAL, "%s answers, but is not a weft host",
				   meeting->options.address);
	if (answer.why[0] != '\0')
		return refuse_text(refusal, -EINVAL, "%s", answer.why);
	memcpy(heard, answer.word, sizeof(answer.word));
	meeting->options.index = answer.index;
	return 0;
}

int meeting_open(struct meeting *ret, const struct meeting_options *options, const void *said,
		 void *heard, struct refusal *refusal)
{
	struct hello hello;
	*ret = (struct meeting){.options = *options, .bell = {-1, -1}};
	check(options->count >= 1 && options->count <= MEETING_HOSTS_MAX);
	for (uint32_t i = 0; i < MEETING_HOSTS_MAX; i++)
		ret->sockets[i] = -1;
	if (pipe2(ret->bell, O_CLOEXEC) != 0)
		return refuse_text(refusal, -ENODEV, "no pipe: %s", strerror(errno));
	greet(ret, said, &hello);
	return options->index == 0 ? host_all(ret, &hello, heard, refusal)
				   : join_host(ret, &hello, heard, refusal);
}

// ---------------------------------------------------------------- what all give

static int write_part(int socket, const void *from, uint32_t bytes)
{
	const struct word word = {.kind = WORD_SHARE, .host = bytes};
	int rc = write_all(socket, &word, sizeof(word));
	return rc < 0 ? rc : write_all(socket, from, bytes);
}

// What a watch said last, that its host is there or what it fired, may lie before.
static int read_part(const struct meeting *meeting, int socket, void *ret, uint32_t bytes,
		     int64_t deadline_ms)
{
	struct word word = {.kind = WORD_HERE};
	while (word.kind == WORD_HERE || word.kind == WORD_FIRED) {
		int rc = read_all(meeting, socket, &word, sizeof(word), deadline_ms);
		if (rc < 0)
			return rc;
	}
	if (word.kind != WORD_SHARE || word.host != bytes)
		return -ECONNRESET;
	return read_all(meeting, socket, ret, bytes, deadline_ms);
}

int meeting_give(struct meeting *meeting, uint32_t host, const void *from, uint32_t bytes,
		 struct refusal *refusal)
{
	int rc = write_part(meeting->sockets[host], from, bytes);
	return rc < 0 ? refuse_peer(refusal, rc, host, 0) : 0;
}

int meeting_take(struct meeting *meeting, uint32_t host, void *ret, uint32_t bytes,
		 struct refusal *refusal)
{
	int rc = read_part(meeting, meeting->sockets[host], ret, bytes, deadline_of(meeting));
	return rc < 0 ? refuse_peer(refusal, rc, host, meeting->options.timeout_s) : 0;
}

// Host 0 takes the parts of the others, and gives each all of them.
static int share_here(struct meeting *meeting, uint8_t *all, uint32_t bytes,
		      struct refusal *refusal)
{
	int64_t deadline_ms = deadline_of(meeting);
	for (uint32_t i = 1; i < meeting->options.count; i++) {
		int rc = read_part(meeting, meeting->sockets[i], all + (size_t)i * bytes, bytes,
				   deadline_ms);
		if (rc < 0)
			return refuse_peer(refusal, rc, i, meeting->options.timeout_s);
	}
	for (uint32_t i = 1; i < meeting->options.count; i++) {
		int rc = write_part(meeting->sockets[i], all, meeting->options.count * bytes);
		if (rc < 0)
			return refuse_peer(refusal, rc, i, 0);
	}
	return 0;
}

int meeting_share(struct meeting *meeting, const void *mine, void *all, uint32_t bytes,
		  struct refusal *refusal)
{
	memcpy((uint8_t *)all + (size_t)meeting->options.index * bytes, mine, bytes);
	if (meeting->options.index == 0)
		return share_here(meeting, all, bytes, refusal);
	int rc = write_part(meeting->sockets[0], mine, bytes);
	if (rc == 0)
		rc = read_part(meeting, meeting->sockets[0], all, meeting->options.count * bytes,
			       deadline_of(meeting));
	return rc < 0 ? refuse_peer(refusal, rc, 0, meeting->options.timeout_s) : 0;
}

void meeting_close(struct meeting *meeting)
{
	for (uint32_t i = 0; i < MEETING_HOSTS_MAX; i++)
		if (meeting->sockets[i] >= 0)
			close(meeting->sockets[i]);
	for (int i = 0; i < 2; i++)
		if (meeting->bell[i] >= 0)
			close(meeting->bell[i]);
}
