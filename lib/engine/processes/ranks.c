// SPDX-License-Identifier: Apache-2.0
// What ranks say to each other beside packets: whether all may begin, and how it ended.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/world/world.h>

#include "backoff.h"

// The first of these variables that is there, as a number; `otherwise` without one.
static uint32_t number_of(const char *const *names, uint32_t otherwise)
{
	const char *text = NULL;
	for (; *names != NULL && text == NULL; names++)
		text = getenv(*names);
	long number = text == NULL ? -1 : strtol(text, NULL, 10);
	return number < 0 || number > INT32_MAX ? otherwise : (uint32_t)number;
}

// What launchers tell their processes: Open MPI's mpirun; MPICH's and Intel's, and srun with PMI-1
// or -2. srun with PMIx gives a rank only, and the number as Slurm's own.
uint32_t ranks_launched(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
	static const char *const slurm[] = {"SLURM_STEP_NUM_TASKS", NULL};
	uint32_t count = number_of(names, 0);
	if (count == 0 && getenv("PMIX_RANK") != NULL)
		count = number_of(slurm, 1);
	return count > 1 ? count : 1;
}

uint32_t ranks_launched_index(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL};
	return number_of(names, 0);
}

int ranks_fit(uint32_t count, uint32_t launched, struct refusal *refusal)
{
	if (count != launched)
		return refuse(
			refusal, -ENODEV,
			"the launcher started % processes, but MPI sees %: is it the launcher "
			"of another MPI?",
			launched, count);
	if (count > WORLD_SHARDS_MAX)
		return refuse(refusal, -EINVAL, "% processes were started; at most % run one world",
			      count, WORLD_SHARDS_MAX);
	return 0;
}

void ranks_share(struct ranks *ranks, const void *mine, void *all, size_t bytes)
{
	struct backoff backoff = {0};
	check(bytes <= INT32_MAX); // MPI counts in ints
	ranks->ops->share(ranks, mine, all, bytes);
	while (!ranks->ops->has_all(ranks))
		backoff_take(&backoff, ranks);
	backoff_end(&backoff, ranks);
}

struct opinion {
	uint64_t fingerprint;
	int64_t rc;
	struct refusal refusal;
};

int ranks_agree(struct ranks *ranks, int rc, uint64_t fingerprint, struct refusal *refusal)
{
	struct opinion mine = {.fingerprint = fingerprint, .rc = rc, .refusal = *refusal};
	struct opinion all[WORLD_SHARDS_MAX];
	check(ranks->count <= WORLD_SHARDS_MAX);
	ranks_share(ranks, &mine, all, sizeof(mine));
	for (uint32_t i = 0; i < ranks->count; i++) {
		if (all[i].rc == 0)
			continue;
		*refusal = all[i].refusal;
		return (int)all[i].rc;
	}
	for (uint32_t i = 1; i < ranks->count; i++)
		if (all[i].fingerprint != all[0].fingerprint)
			return refuse(refusal, -EINVAL,
				      "rank % built another world than rank 0: every rank needs "
				      "the same weft, scenario and options",
				      i);
	return 0;
}

int ranks_follow(struct ranks *ranks, int status)
{
	int32_t mine = status, all[WORLD_SHARDS_MAX];
	ranks_share(ranks, &mine, all, sizeof(mine));
	return all[0];
}
