// SPDX-License-Identifier: Apache-2.0
// Several processes, one run: only the first reads and writes what the user sees.

#include "run_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weft/run/host_info.h>

#define PROGRAM_MPI "weft-sim-mpi"

// What is asked for, and what to do instead.
static int refuse_word(struct call *call, const char *what, const char *instead)
{
	snprintf(call->refusal.text, sizeof(call->refusal.text),
		 "%s needs a run in one process, but %u were started: %s", what, ranks_launched(),
		 instead);
	return -EINVAL;
}

// What others than the first print goes nowhere.
static int be_silent(struct refusal *refusal)
{
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0)
		return refuse(refusal, -errno, "cannot open /dev/null");
	close(nothing);
	return 0;
}

int ranks_join(struct call *call, char **argv)
{
	if (ranks_launched() == 1)
		return 0;
	call->is_other = ranks_launched_index() > 0;
	if (strcmp(call->options.program, "sim") != 0)
		return refuse_word(call, "weft emu", "it runs on several cores by --lanes");
	if (!ranks_are_built())
		program_exec(PROGRAM_MPI, argv);
	int rc = ranks_start(&call->ranks, &call->refusal);
	call->has_ranks = call->ranks.ops != NULL;
	if (rc < 0)
		return rc;
	call->ranks.stop = signals_stop();
	call->is_other = call->ranks.index > 0;
	return call->is_other ? be_silent(&call->refusal) : 0;
}

int ranks_check(struct call *call)
{
	const struct options *options = &call->options;
	if (!call->has_ranks)
		return 0;
	if (call->is_study)
		return refuse_word(call, "a study (--seeds, --sweep)",
				   "without mpirun, --jobs runs many side by side");
	if (call->is_comparison)
		return refuse_word(call, "a scenario with variants", "--variant names one");
	if (options->fidelity_kind != FIDELITY_NONE)
		return refuse_word(call, "--fidelity", "leave out mpirun");
	if (options->export_form != NULL)
		return refuse_word(call, "--export", "leave out mpirun, as nothing is run");
	if (options->pcap != NULL)
		return refuse_word(call, "--pcap", "without mpirun it is the same run");
	if (options->log != NULL)
		return refuse_word(call, "--log", "without mpirun it is the same run");
	return 0;
}

// Of the world that was built: what differs between two files or two builds hardly leaves all of
// this the same.
static uint64_t fingerprint(const struct call *call)
{
	const struct world *world = &call->world_instance.world;
	uint64_t print = call->text_hash;
	const uint64_t facts[] = {
		world->machine_count,	 world->cable_count, (uint64_t)world->window_ps,
		world->work_total,	 world->qp_count,    world->context_count,
		world->packets.capacity, call->scenario.seed};
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		print = (print ^ facts[i]) * UINT64_C(0x100000001b3);
	return print;
}

int ranks_may_run(struct call *call, int rc)
{
	if (!call->has_ranks)
		return rc;
	return ranks_agree(&call->ranks, rc, rc == 0 ? fingerprint(call) : 0, &call->refusal);
}

int ranks_leave(struct call *call, int status)
{
	if (!call->has_ranks)
		return status;
	int agreed = ranks_follow(&call->ranks, status);
	ranks_end(&call->ranks);
	return agreed;
}
