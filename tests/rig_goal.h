// SPDX-License-Identifier: Apache-2.0
// A program for 16 ranks that has a bit of everything, as GOAL text: computations that share a
// core, messages to the next rank (of the same host, where hosts have two), three messages at once
// over one connection, and a receive that nobody waits for. What a scenario of these tests finds
// behind traffic.file.
#pragma once

#include <stdio.h>
#include <string.h>

#define RIG_GOAL_RANKS 16u
#define RIG_GOAL_BYTES 16384

// The program of one rank; `bytes` is the size of the largest message.
static size_t rig_goal_rank(char *ret, size_t room, uint32_t rank, uint32_t bytes)
{
	uint32_t next = (rank + 1) % RIG_GOAL_RANKS, far = (rank + 7) % RIG_GOAL_RANKS;
	uint32_t before = (rank + 15) % RIG_GOAL_RANKS, from = (rank + 9) % RIG_GOAL_RANKS;
	return (size_t)snprintf(
		ret, room,
		"rank %u {\n"
		"c0: calc %u\nc1: calc 700\n"
		"s1: send 20000b to %u tag 1\ns1 requires c0\n"
		"r1: recv 20000b from %u tag 1\n"
		"c2: calc 2000\nc2 requires r1\nc3: calc 900 cpu 1\nc3 requires r1\n"
		"s2: send %ub to %u tag 2\ns2 requires c2\n"
		"s3: send 1b to %u tag 2\ns3 requires c2\n"
		"s4: send 9000b to %u tag 3\ns4 irequires s2\n"
		"recv %ub from %u tag 2\nr3: recv 1b from %u tag 2\n"
		"r4: recv 9000b from %u tag 3\n"
		"c5: calc 100\nc5 requires r3\nc5 requires r4\n"
		"}\n",
		rank, 500 + 37 * rank, next, before, bytes, far, far, far, bytes, from, from, from);
}

// Of 16 ranks; it holds until the next call.
__attribute__((unused)) static const char *rig_goal(uint32_t bytes)
{
	static char text[RIG_GOAL_BYTES];
	size_t used = (size_t)snprintf(text, sizeof(text), "num_ranks %u\n", RIG_GOAL_RANKS);
	for (uint32_t rank = 0; rank < RIG_GOAL_RANKS && used < sizeof(text); rank++)
		used += rig_goal_rank(text + used, sizeof(text) - used, rank, bytes);
	return used < sizeof(text) ? text : NULL;
}
