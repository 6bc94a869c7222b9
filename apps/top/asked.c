// SPDX-License-Identifier: Apache-2.0
// DPDK's telemetry, from outside: a socket that keeps messages apart; a command goes in, an object
// comes out whose only member is the answer.

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "top.h"

#define ANSWER_BYTES 32768
#define WAIT_S 5

static int refuse_text(struct refusal *refusal, int code, const char *what, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), what, word);
	return code;
}

// Where DPDK's folders of this user are.
static void put_pattern(char *ret, size_t bytes, const char *pid)
{
	const char *home = getenv("XDG_RUNTIME_DIR");
	if (getuid() == 0)
		home = "/run"; // rte_eal_get_runtime_dir(): "/var/run" for root
	snprintf(ret, bytes, "%s/dpdk/weft-%s/dpdk_telemetry.v2", home != NULL ? home : "/tmp",
		 pid);
}

static bool can_join(const char *path, int *ret_socket)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval wait = {.tv_sec = WAIT_S};
	if (strlen(path) >= sizeof(address.sun_path))
		return false;
	strcpy(address.sun_path, path);
	*ret_socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	setsockopt(*ret_socket, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (*ret_socket >= 0 &&
	    connect(*ret_socket, (struct sockaddr *)&address, sizeof(address)) == 0)
		return true;
	close(*ret_socket); // who was killed has left it
	return false;
}

static int join(struct asked *ret, const char *path)
{
	char greeting[1024];
	if (!can_join(path, &ret->socket))
		return -ENODEV;
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	return recv(ret->socket, greeting, sizeof(greeting), 0) > 0 ? 0 : -ENODEV;
}

// The only one that answers here.
static int join_only(struct asked *ret, struct refusal *refusal)
{
	char pattern[256];
	glob_t found = {0};
	struct asked one;
	int count = 0;
	put_pattern(pattern, sizeof(pattern), "*");
	for (size_t i = 0; glob(pattern, 0, NULL, &found) == 0 && i < found.gl_pathc; i++) {
		if (join(&one, found.gl_pathv[i]) < 0)
			continue;
		if (count++ == 0)
			*ret = one;
		else
			asked_close(&one);
		if (i + 1 == found.gl_pathc)
			break;
	}
	globfree(&found);
	if (count == 1)
		return 0;
	if (count > 1)
		asked_close(ret);
	return refuse_text(refusal, -ENODEV,
			   count == 0 ? "no weft host with --telemetry runs here (%s)"
				      : "several weft hosts run here: name one by its PID (%s)",
			   pattern);
}

int asked_open(struct asked *ret, const char *word, struct refusal *refusal)
{
	char path[256];
	if (word == NULL)
		return join_only(ret, refusal);
	if (strspn(word, "0123456789") == strlen(word))
		put_pattern(path, sizeof(path), word);
	else
		snprintf(path, sizeof(path), "%s", word);
	return join(ret, path) == 0 ? 0
				    : refuse_text(refusal, -ENODEV, "no answer at %.180s", path);
}

// The answer to a command; NULL: there is none.
static json_t *ask(struct asked *asked, const char *command)
{
	static char said[ANSWER_BYTES];
	json_error_t error;
	if (send(asked->socket, command, strlen(command), MSG_NOSIGNAL) < 0)
		return NULL;
	ssize_t bytes = recv(asked->socket, said, sizeof(said) - 1, 0);
	if (bytes <= 0)
		return NULL;
	json_t *whole = json_loadb(said, (size_t)bytes, 0, &error);
	void *only = json_object_iter(whole);
	json_t *answer = only != NULL ? json_incref(json_object_iter_value(only)) : NULL;
	json_decref(whole);
	if (json_is_object(answer))
		return answer;
	json_decref(answer);
	return NULL;
}

bool asked_look(struct asked *asked, struct look *ret)
{
	*ret = (struct look){.run = ask(asked, "/weft/run")};
	if (ret->run != NULL)
		ret->planes = ask(asked, "/weft/planes");
	if (ret->planes != NULL)
		ret->qps = ask(asked, "/weft/qps,0");
	if (ret->qps != NULL)
		return true;
	look_drop(ret);
	return false;
}

void look_drop(struct look *look)
{
	json_decref(look->run);
	json_decref(look->planes);
	json_decref(look->qps);
	*look = (struct look){0};
}

void asked_close(struct asked *asked)
{
	close(asked->socket);
}
