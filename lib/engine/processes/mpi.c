// SPDX-License-Identifier: Apache-2.0
// Ranks by MPI. Nothing here knows what is sent. Errors of MPI end all processes, as MPI does when
// nobody asks for more.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <weft/core/check.h>
#include <weft/engine/ranks.h>
#include <weft/world/world.h>

#define TAG 1

// One world per process, as MPI has it.
static MPI_Request sending[WORLD_SHARDS_MAX][RANKS_SLOTS];
static MPI_Request coming[WORLD_SHARDS_MAX];
static MPI_Request sharing = MPI_REQUEST_NULL;

static void send_bytes(struct ranks *ranks, uint32_t to, uint32_t slot, const void *from,
		       size_t bytes)
{
	(void)ranks;
	check(bytes <= INT32_MAX);
	MPI_Isend(from, (int)bytes, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD, &sending[to][slot]);
}

static bool is_sent(struct ranks *ranks, uint32_t to, uint32_t slot)
{
	(void)ranks;
	int is_done;
	MPI_Test(&sending[to][slot], &is_done, MPI_STATUS_IGNORE);
	return is_done != 0;
}

static void expect_bytes(struct ranks *ranks, uint32_t from, void *room, size_t bytes)
{
	(void)ranks;
	check(bytes <= INT32_MAX);
	MPI_Irecv(room, (int)bytes, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, &coming[from]);
}

static bool has_come(struct ranks *ranks, uint32_t from, size_t *ret_bytes)
{
	(void)ranks;
	MPI_Status status;
	int is_done, bytes;
	MPI_Test(&coming[from], &is_done, &status);
	if (is_done == 0)
		return false;
	MPI_Get_count(&status, MPI_BYTE, &bytes);
	*ret_bytes = (size_t)bytes;
	return true;
}

static void share_bytes(struct ranks *ranks, const void *mine, void *all, size_t bytes)
{
	(void)ranks;
	MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD,
		       &sharing);
}

static bool has_all(struct ranks *ranks)
{
	(void)ranks;
	int is_done;
	MPI_Test(&sharing, &is_done, MPI_STATUS_IGNORE);
	return is_done != 0;
}

static void give_up(struct ranks *ranks, int status)
{
	(void)ranks;
	MPI_Abort(MPI_COMM_WORLD, status);
	_Exit(status);
}

static const struct ranks_ops ops = {
	.send = send_bytes,
	.is_sent = is_sent,
	.expect = expect_bytes,
	.has_come = has_come,
	.share = share_bytes,
	.has_all = has_all,
	.give_up = give_up,
};

bool ranks_are_built(void)
{
	return true;
}

static void finalize(void)
{
	MPI_Finalize();
}

int ranks_start(struct ranks *ret, struct refusal *refusal)
{
	int count, index;
	if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
		return refuse(refusal, -ENODEV, "MPI does not start");
	MPI_Comm_size(MPI_COMM_WORLD, &count);
	MPI_Comm_rank(MPI_COMM_WORLD, &index);
	// All see the same, so that nobody need agree; MPI is started first all the same, since
	// Open MPI's launcher can hang where processes end without.
	int rc = ranks_fit((uint32_t)count, ranks_launched(), refusal);
	if (rc < 0) {
		atexit(finalize); // it waits for all: the launcher ends the others once one has
				  // failed, and the reason is still to be printed
		return rc;
	}
	*ret = (struct ranks){.ops = &ops, .count = (uint32_t)count, .index = (uint32_t)index};
	for (uint32_t i = 0; i < WORLD_SHARDS_MAX; i++) {
		coming[i] = MPI_REQUEST_NULL;
		for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++)
			sending[i][slot] = MPI_REQUEST_NULL;
	}
	return 0;
}

void ranks_end(struct ranks *ranks)
{
	(void)ranks;
	MPI_Finalize();
}
