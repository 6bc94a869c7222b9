// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of a test: each has a world of its own, and messages go through memory. What
// they run together is then in the world of rank 0. A message counts as sent only when it was
// taken, which is the hardest that a transport may do to who waits for it.
#pragma once

#include <pthread.h>

#include "../rig.h"

#define THREAD_RANKS_MAX 8
#define THREAD_SHARE_BYTES 1024

struct thread_message {
	const void *from; // NULL: none is under way in this slot
	size_t bytes;
	uint64_t number;
};

struct thread_hub {
	pthread_mutex_t lock;
	struct thread_message messages[THREAD_RANKS_MAX][THREAD_RANKS_MAX][RANKS_SLOTS]; // from, to
	uint64_t sent[THREAD_RANKS_MAX][THREAD_RANKS_MAX];
	uint64_t shares[THREAD_RANKS_MAX]; // that a rank has begun
	char shared[2][THREAD_RANKS_MAX][THREAD_SHARE_BYTES];
	uint64_t crossings; // messages in all
};

struct thread_rank {
	struct ranks ranks; // first: operations get a pointer to it
	struct thread_hub *hub;
	void *room[THREAD_RANKS_MAX];
	size_t room_bytes[THREAD_RANKS_MAX];
	void *all;
	size_t all_bytes;
	struct rig *rig;
};

static void thread_send(struct ranks *ranks, uint32_t to, uint32_t slot, const void *from,
			size_t bytes)
{
	struct thread_hub *hub = ((struct thread_rank *)ranks)->hub;
	pthread_mutex_lock(&hub->lock);
	struct thread_message *message = &hub->messages[ranks->index][to][slot];
	check(message->from == NULL);
	*message = (struct thread_message){from, bytes, hub->sent[ranks->index][to]++};
	hub->crossings++;
	pthread_mutex_unlock(&hub->lock);
}

static bool thread_is_sent(struct ranks *ranks, uint32_t to, uint32_t slot)
{
	struct thread_hub *hub = ((struct thread_rank *)ranks)->hub;
	pthread_mutex_lock(&hub->lock);
	bool is_sent = hub->messages[ranks->index][to][slot].from == NULL;
	pthread_mutex_unlock(&hub->lock);
	return is_sent;
}

static void thread_expect(struct ranks *ranks, uint32_t from, void *room, size_t bytes)
{
	struct thread_rank *rank = (struct thread_rank *)ranks;
	check(rank->room[from] == NULL);
	rank->room[from] = room;
	rank->room_bytes[from] = bytes;
}

static bool thread_has_come(struct ranks *ranks, uint32_t from, size_t *ret_bytes)
{
	struct thread_rank *rank = (struct thread_rank *)ranks;
	struct thread_message *oldest = NULL;
	check(rank->room[from] != NULL);
	pthread_mutex_lock(&rank->hub->lock);
	for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++) {
		struct thread_message *message = &rank->hub->messages[from][ranks->index][slot];
		if (message->from != NULL && (oldest == NULL || message->number < oldest->number))
			oldest = message;
	}
	if (oldest != NULL) {
		check(oldest->bytes <= rank->room_bytes[from]);
		memcpy(rank->room[from], oldest->from, oldest->bytes);
		*ret_bytes = oldest->bytes;
		oldest->from = NULL;
		rank->room[from] = NULL;
	}
	pthread_mutex_unlock(&rank->hub->lock);
	return oldest != NULL;
}

static void thread_share(struct ranks *ranks, const void *mine, void *all, size_t bytes)
{
	struct thread_rank *rank = (struct thread_rank *)ranks;
	check(bytes <= THREAD_SHARE_BYTES);
	pthread_mutex_lock(&rank->hub->lock);
	uint64_t number = rank->hub->shares[ranks->index]++;
	memcpy(rank->hub->shared[number % 2][ranks->index], mine, bytes);
	pthread_mutex_unlock(&rank->hub->lock);
	rank->all = all;
	rank->all_bytes = bytes;
}

static bool thread_has_all(struct ranks *ranks)
{
	struct thread_rank *rank = (struct thread_rank *)ranks;
	struct thread_hub *hub = rank->hub;
	bool has_all = true;
	pthread_mutex_lock(&hub->lock);
	uint64_t number = hub->shares[ranks->index];
	for (uint32_t i = 0; i < ranks->count; i++)
		has_all = has_all && hub->shares[i] >= number;
	for (uint32_t i = 0; has_all && i < ranks->count; i++)
		memcpy((char *)rank->all + i * rank->all_bytes, hub->shared[(number - 1) % 2][i],
		       rank->all_bytes);
	pthread_mutex_unlock(&hub->lock);
	return has_all;
}

static void thread_give_up(struct ranks *ranks, int status)
{
	fprintf(stderr, "rank %u gives up\n", ranks->index);
	exit(status);
}

static const struct ranks_ops thread_ops = {
	.send = thread_send,
	.is_sent = thread_is_sent,
	.expect = thread_expect,
	.has_come = thread_has_come,
	.share = thread_share,
	.has_all = thread_has_all,
	.give_up = thread_give_up,
};

static void *thread_run(void *context)
{
	struct thread_rank *rank = context;
	sim_run(rank->rig->world_instance.sim, &rank->rig->run);
	return NULL;
}

// Runs a YAML text by `count` ranks. rigs[0] is then as after a run in one process; the caller
// frees all of them. Returns how many messages crossed.
__attribute__((unused)) static uint64_t thread_ranks_run(struct rig *rigs, const char *yaml,
							 const char *const *sets, uint32_t count)
{
	static struct thread_rank all[THREAD_RANKS_MAX];
	static struct thread_hub hub;
	pthread_t threads[THREAD_RANKS_MAX];
	hub = (struct thread_hub){.lock = PTHREAD_MUTEX_INITIALIZER};
	for (uint32_t i = 0; i < count; i++) {
		all[i] = (struct thread_rank){
			.ranks = {.ops = &thread_ops, .count = count, .index = i},
			.hub = &hub,
			.rig = &rigs[i]};
		const struct sim_options options = {.ranks = &all[i].ranks};
		if (rig_build_with(&rigs[i], yaml, sets, &options) < 0)
			fail_msg("refused: %s", rigs[i].refusal.text);
		rigs[i].outcome = rigs[i].world_instance.world.outcome;
	}
	for (uint32_t i = 1; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_run, &all[i]), 0);
	thread_run(&all[0]);
	for (uint32_t i = 1; i < count; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	return hub.crossings;
}

__attribute__((unused)) static void thread_ranks_free(struct rig *rigs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		world_instance_free(&rigs[i].world_instance);
}
