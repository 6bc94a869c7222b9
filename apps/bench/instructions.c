// SPDX-License-Identifier: Apache-2.0
// Instructions of a run, counted by callgrind, which counts between the entry and the end of
// sim_run() and finds that by name.

#include <weft/files/signals.h>

#include "figures.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_FD 9
#define LOG_OPTION "--log-fd=9"
#define EXIT_NO_VALGRIND 127

// In the new process. What the program prints is for nobody; what callgrind says goes to `to`.
static void become_valgrind(const char *option, const char *name, pid_t parent, int to)
{
	char self[4096];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int nothing = open("/dev/null", O_WRONLY);
	if (!signals_end_with(parent) || bytes < 0 || nothing < 0 ||
	    dup2(nothing, STDOUT_FILENO) < 0 || dup2(to, LOG_FD) < 0)
		_exit(1);
	self[bytes] = '\0';
	execlp("valgrind", "valgrind", "--tool=callgrind", "--collect-atstart=no",
	       "--toggle-collect=sim_run", "--callgrind-out-file=/dev/null", LOG_OPTION, self,
	       "sim", option, name, "--repeat", "1", (char *)NULL);
	_exit(errno == ENOENT ? EXIT_NO_VALGRIND : 1);
}

// The total that callgrind's log ends with; 0 when there is none.
static uint64_t read_total(int from)
{
	static const char mark[] = "Collected : ";
	char line[256];
	uint64_t total = 0;
	FILE *log = fdopen(from, "r");
	if (log == NULL)
		return 0;
	while (fgets(line, sizeof(line), log) != NULL) {
		const char *at = strstr(line, mark);
		if (at != NULL)
			total = strtoull(at + sizeof(mark) - 1, NULL, 10);
	}
	fclose(log);
	return total;
}

static uint64_t give_no_count(char *ret_reason, size_t bytes, const char *reason)
{
	snprintf(ret_reason, bytes, "%s", reason);
	return 0;
}

static uint64_t judge(int how, uint64_t total, char *ret_reason, size_t bytes)
{
	if (WIFEXITED(how) && WEXITSTATUS(how) == EXIT_NO_VALGRIND)
		return give_no_count(ret_reason, bytes, "valgrind is not installed");
	if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
		return give_no_count(ret_reason, bytes, "the run under valgrind failed");
	if (total == 0)
		return give_no_count(ret_reason, bytes,
				     "callgrind found no sim_run: the program has no symbols");
	return total;
}

uint64_t instructions_count(const char *option, const char *name, char *ret_reason, size_t bytes)
{
	int ends[2], how;
	if (pipe(ends) < 0)
		return give_no_count(ret_reason, bytes, "cannot open a pipe");
	fflush(NULL);
	pid_t parent = getpid(), id = fork();
	if (id == 0)
		become_valgrind(option, name, parent, ends[1]);
	close(ends[1]);
	if (id < 0) {
		close(ends[0]);
		return give_no_count(ret_reason, bytes, "cannot start a process");
	}
	uint64_t total = read_total(ends[0]);
	while (waitpid(id, &how, 0) < 0 && errno == EINTR)
		;
	return judge(how, total, ret_reason, bytes);
}
