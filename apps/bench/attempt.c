// SPDX-License-Identifier: Apache-2.0
// One run of a world. A process of its own starts with a memory that no other run has grown, and
// its peak is that of this world.

#include <weft/files/signals.h>

#include "figures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/engine/engine.h>

// What comes back from a process.
struct answer {
	int rc;
	struct attempt attempt;
	struct refusal refusal;
};

static void take(struct attempt *ret, const struct run *run)
{
	*ret = (struct attempt){
		.digest = run->digest,
		.data_packets = run->data_packets,
		.sent = run->sent,
		.hops = run->hops,
		.data_hops = run->data_hops,
		.visits = run->visits,
		.now_ps = run->now_ps,
		.cpu_s = run->cpu_s,
		.memory_peak_bytes = memory_peak_bytes(),
	};
}

static int run_here(const char *path, const char *text, size_t bytes, struct attempt *ret,
		    struct refusal *refusal)
{
	static const struct sim_options options;
	static struct scenario scenario;
	struct world_instance world_instance;
	struct run run;
	int rc = scenario_parse(&scenario, path, text, bytes, NULL, 0, refusal);
	if (rc == 0)
		rc = world_instance_build(&world_instance, &scenario, NULL, 0, &options, refusal);
	if (rc < 0)
		return rc;
	sim_run(world_instance.sim, &run);
	world_instance_free(&world_instance);
	take(ret, &run);
	if (run.end == RUN_DONE)
		return 0;
	snprintf(refusal->text, sizeof(refusal->text), "%s: the run ended as '%s'", scenario.name,
		 run_end_name(run.end));
	return -EIO;
}

// Written at once: an answer is smaller than a pipe.
static void run_there(const char *path, const char *text, size_t bytes, pid_t parent, int to)
{
	struct answer answer = {0};
	if (!signals_end_with(parent))
		_exit(1);
	answer.rc = run_here(path, text, bytes, &answer.attempt, &answer.refusal);
	ssize_t written = write(to, &answer, sizeof(answer));
	_exit(written == (ssize_t)sizeof(answer) ? 0 : 1);
}

static int take_answer(int from, pid_t id, struct attempt *ret, struct refusal *refusal)
{
	struct answer answer;
	int how;
	ssize_t bytes = read(from, &answer, sizeof(answer));
	while (waitpid(id, &how, 0) < 0 && errno == EINTR)
		;
	if (bytes != (ssize_t)sizeof(answer))
		return refuse(refusal, -EIO, "a run ended without a result (signal %)",
			      WIFSIGNALED(how) ? WTERMSIG(how) : 0);
	*ret = answer.attempt;
	*refusal = answer.refusal;
	return answer.rc;
}

int attempt_run(const char *path, const char *text, size_t bytes, bool is_apart,
		struct attempt *ret, struct refusal *refusal)
{
	int ends[2];
	if (!is_apart)
		return run_here(path, text, bytes, ret, refusal);
	if (pipe(ends) < 0)
		return refuse(refusal, -EAGAIN, "cannot open a pipe");
	fflush(NULL);
	pid_t parent = getpid(), id = fork();
	if (id == 0) {
		close(ends[0]);
		run_there(path, text, bytes, parent, ends[1]);
	}
	close(ends[1]);
	int rc = id < 0 ? refuse(refusal, -EAGAIN, "cannot start a process")
			: take_answer(ends[0], id, ret, refusal);
	close(ends[0]);
	return rc;
}
