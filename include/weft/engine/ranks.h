// SPDX-License-Identifier: Apache-2.0
// Processes that run one world together. Each of them, a rank, builds all of the world and runs the
// machines of one shard; what crosses from one to another is exchanged once in a window, and the
// result is that of a single process. How messages go is a table: MPI's, or that of a test.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>

#define RANKS_SLOTS 32 // messages under way to one rank at the same time

struct ranks;

struct ranks_ops {
	// Sends `bytes` at `from`, which stay as they are until is_sent() of that slot. Messages to
	// one rank arrive in the order in which they were sent.
	void (*send)(struct ranks *ranks, uint32_t to, uint32_t slot, const void *from,
		     size_t bytes);
	bool (*is_sent)(struct ranks *ranks, uint32_t to, uint32_t slot);
	// Takes the next message of a rank into `room`, of at most `bytes`; one at a time.
	void (*expect)(struct ranks *ranks, uint32_t from, void *room, size_t bytes);
	bool (*has_come)(struct ranks *ranks, uint32_t from, size_t *ret_bytes);
	// All ranks give `bytes` and get those of all, in order of ranks: share() begins, has_all()
	// says when they are in `all`. Both places stay as they are until then.
	void (*share)(struct ranks *ranks, const void *mine, void *all, size_t bytes);
	bool (*has_all)(struct ranks *ranks);
	// Ends this process and all others at once with an exit status. Does not return.
	void (*give_up)(struct ranks *ranks, int status);
};

struct ranks {
	const struct ranks_ops *ops;
	uint32_t count, index;
	const volatile sig_atomic_t *stop; // not 0: nobody waits for long any more; or NULL
	double waited_cpu_s;		   // CPU time spent on waiting for others so far
};

#ifdef __cplusplus
extern "C" {
#endif

// How many processes a launcher (mpirun, srun) says that it started, this one being one of them; 1
// without a launcher. Read from the environment, without MPI.
uint32_t ranks_launched(void);

// Which of them this one is, from 0.
uint32_t ranks_launched_index(void);

// Whether this program is one that can start them: others are not linked with MPI.
bool ranks_are_built(void);

// Whether `count` processes, which MPI sees, can run one world; a launcher says that it started
// `launched`. -ENODEV when the two differ, -EINVAL with the most that fit when they are too many.
int ranks_fit(uint32_t count, uint32_t launched, struct refusal *refusal);

// Starts MPI. -ENOTSUP in a program without MPI; as ranks_fit() when these processes cannot run one
// world; then it is ended again.
int ranks_start(struct ranks *ret, struct refusal *refusal);

// Ends MPI. All ranks call it, once.
void ranks_end(struct ranks *ranks);

// All ranks call it with what they have come to: 0, or -errno with a refusal. Returns the same to
// all of them: 0 when all have 0, else what the first refused, with its reason. -EINVAL when
// `fingerprint`, of all that a world is made of, is not the same everywhere.
int ranks_agree(struct ranks *ranks, int rc, uint64_t fingerprint, struct refusal *refusal);

// What rank 0 has come to: the same for all.
int ranks_follow(struct ranks *ranks, int status);

// Shares and waits until all have done so.
void ranks_share(struct ranks *ranks, const void *mine, void *all, size_t bytes);

#ifdef __cplusplus
}
#endif
