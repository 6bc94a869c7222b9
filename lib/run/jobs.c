// SPDX-License-Identifier: Apache-2.0
// A process per run. A child writes one record, smaller than what a pipe holds, and ends: so the
// parent may wait for its end first and read then.

#include "jobs.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/files/signals.h>
#include <weft/run/call.h>

static_assert(sizeof(struct study_run) <= PIPE_BUF, "a record fits into a pipe");

struct job_process {
	pid_t id; // 0: none
	int from; // read end of its pipe
	uint32_t index;
};

struct jobs {
	struct job_process processes[JOBS_MAX];
	uint32_t running;
	jobs_work_fn *work;
	jobs_take_fn *take;
	void *context;
	int status; // the first that ended the study
};

static void child(const struct jobs *jobs, uint32_t index, pid_t parent, int to)
{
	struct study_run run;
	if (!signals_end_with(parent)) // its study was killed, and can tell nobody
		_exit(EXIT_ENVIRONMENT);
	int status = jobs->work(jobs->context, index, &run);
	if (status == 0 && write(to, &run, sizeof(run)) != (ssize_t)sizeof(run))
		status = EXIT_ENVIRONMENT;
	_exit(status); // what the parent has not printed yet is the parent's
}

static int say_environment(void)
{
	perror("weft sim: cannot start a run");
	return EXIT_ENVIRONMENT;
}

static int start(struct jobs *jobs, uint32_t index)
{
	int ends[2];
	struct job_process *process = jobs->processes;
	while (process->id != 0)
		process++;
	if (pipe(ends) < 0)
		return say_environment();
	fflush(NULL);
	pid_t parent = getpid(), id = fork();
	if (id == 0) {
		close(ends[0]);
		child(jobs, index, parent, ends[1]);
	}
	close(ends[1]);
	if (id < 0) {
		close(ends[0]);
		return say_environment();
	}
	*process = (struct job_process){id, ends[0], index};
	jobs->running++;
	return 0;
}

// Why there is nothing of a run: for its line of the table.
static void say_why(struct study_run *ret, int status, int how)
{
	*ret = (struct study_run){.dead = status};
	if (WIFSIGNALED(how))
		snprintf(ret->end, sizeof(ret->end), "killed by signal %d (%.12s)", WTERMSIG(how),
			 sigabbrev_np(WTERMSIG(how)) == NULL ? "" : sigabbrev_np(WTERMSIG(how)));
	else if (status == EXIT_BAD_INPUT)
		snprintf(ret->end, sizeof(ret->end), "refused");
	else
		snprintf(ret->end, sizeof(ret->end), "ended with status %d", WEXITSTATUS(how));
}

// One that died costs no other: its own line says why. Where the first is refused the study is,
// however many run at once.
static void end(struct jobs *jobs, struct job_process *process, int how)
{
	struct study_run run;
	int status = WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_ENVIRONMENT;
	bool is_whole = status == 0 &&
		read(process->from, &run, sizeof(run)) == (ssize_t)sizeof(run);
	if (is_whole) {
		jobs->take(jobs->context, process->index, &run);
	} else if (status == EXIT_BAD_INPUT && process->index == 0) {
		jobs->status = status;
	} else if (!call_is_stopped()) {
		say_why(&run, status == EXIT_BAD_INPUT ? status : EXIT_ENVIRONMENT, how);
		jobs->take(jobs->context, process->index, &run);
	}
	close(process->from);
	process->id = 0;
	jobs->running--;
}

static void stop_all(const struct jobs *jobs)
{
	for (uint32_t i = 0; i < JOBS_MAX; i++)
		if (jobs->processes[i].id != 0)
			kill(jobs->processes[i].id, SIGTERM);
}

// Waits for one of them to end. A signal to this process alone is passed on.
static void wait_for_one(struct jobs *jobs)
{
	int how;
	pid_t id;
	while ((id = waitpid(-1, &how, 0)) < 0 && errno == EINTR)
		if (call_is_stopped())
			stop_all(jobs);
	for (uint32_t i = 0; i < JOBS_MAX; i++)
		if (id > 0 && jobs->processes[i].id == id)
			end(jobs, &jobs->processes[i], how);
}

int jobs_run(uint32_t count, uint32_t at_once, jobs_work_fn *work, jobs_take_fn *take,
	     void *context)
{
	static struct jobs jobs;
	jobs = (struct jobs){.work = work, .take = take, .context = context};
	for (uint32_t index = 0; index < count && jobs.status == 0 && !call_is_stopped();) {
		if (jobs.running == at_once) {
			wait_for_one(&jobs);
			continue;
		}
		int status = start(&jobs, index++);
		if (status != 0)
			jobs.status = status;
	}
	if (jobs.status != 0 || call_is_stopped())
		stop_all(&jobs);
	while (jobs.running > 0)
		wait_for_one(&jobs);
	return jobs.status;
}
