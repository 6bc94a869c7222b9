// SPDX-License-Identifier: Apache-2.0
// A case as a process of its own, that ends when the book does: one killed at once has nobody left
// to stop what it started, and the same call again would write beside it into the same folder.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/files/signals.h>

#include "acceptance.h"

// The program beside this one.
static void program_of(char ret[PATH_MAX + 16], const char *with)
{
	ssize_t length = readlink("/proc/self/exe", ret, PATH_MAX - 1);
	ret[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(ret, '/');
	snprintf(slash == NULL ? ret : slash + 1, 16, "weft-%s", with);
}

// In the new process, which ends with its parent: whatever it leaves is cleared by the next call.
// Does not return; `say` learns errno when the program cannot be started.
static void become(const char *program, const char *const words[], const char *log, pid_t parent,
		   int say)
{
	int error, to = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (signals_end_with(parent) && to >= 0 && dup2(to, 1) >= 0 && dup2(to, 2) >= 0)
		execv(program, (char *const *)words);
	error = errno;
	ssize_t written = write(say, &error, sizeof(error));
	_exit(written == sizeof(error) ? EXIT_FAILURE : EXIT_FAILURE + 1);
}

int child_start(pid_t *ret, const char *with, const char *words[], const char *log,
		struct refusal *refusal)
{
	static char program[PATH_MAX + 16];
	int ends[2], error = 0;
	pid_t parent = getpid();
	program_of(program, with);
	words[0] = program;
	*ret = 0;
	pid_t child = pipe2(ends, O_CLOEXEC) < 0 ? -1 : fork();
	if (child == 0)
		become(program, words, log, parent, ends[1]);
	if (child > 0) {
		close(ends[1]);
		if (read(ends[0], &error, sizeof(error)) != sizeof(error))
			error = 0; // closed by what it has become
		close(ends[0]);
		*ret = error == 0 ? child : 0;
	}
	if (child > 0 && error == 0)
		return 0;
	if (child > 0)
		waitpid(child, NULL, 0);
	snprintf(refusal->text, sizeof(refusal->text), "cannot start %.200s: %s", program,
		 strerror(child > 0 ? error : errno));
	return -EIO;
}
