// SPDX-License-Identifier: Apache-2.0
// Triggers that start flows at the other host, in wall time over DPDK's ring ports: each host has a
// thread of its own, and a third one carries what was fired, as the watch of a meeting does.

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include <weft/wall/fired.h>

#include "wall_pair.h"

#define STEPS 20u
#define BYTES 40960u

// What the threads see of each other.
struct shared {
	struct pair *pair;
	struct ending ending;
	int is_over;
	uint32_t carried, strange;
	enum wall_end ended[HOSTS];
};

struct end {
	struct shared *shared;
	struct ending_part part;
};

static int open_rings(struct ports *ports, struct arena *arena, struct refusal *refusal)
{
	static const struct dpdk_options options = {.lanes = HOSTS};
	return port_dpdk_open(ports, arena, &options, refusal);
}

static void run_end(void *context)
{
	struct end *end = context;
	const struct wall_control control = {.clock = dpdk_clock_ns,
					     .news = &end->shared->ending.news,
					     .done = ending_tell,
					     .done_context = &end->part};
	uint32_t host = end->part.host;
	end->shared->ended[host] = wall_run(end->shared->pair->wall[host], &control);
}

static void *carry(void *context)
{
	struct shared *shared = context;
	while (!__atomic_load_n(&shared->is_over, __ATOMIC_ACQUIRE)) {
		for (uint32_t from = 0; from < HOSTS; from++) {
			struct fired *to = wall_fired(shared->pair->wall[1 - from]);
			struct signal signal;
			while (fired_take(&wall_fired(shared->pair->wall[from])->out, &signal)) {
				shared->carried++;
				shared->strange += !fired_fits(to, &signal, from) ||
					!fired_put(&to->in, &signal);
			}
		}
		sched_yield();
	}
	return NULL;
}

// There and back again: the last byte of each flow starts the next one, at the host that has it.
// Both ends of the last one then meet at a barrier, behind which each host sends once more.
static void write_matrix(char *ret, size_t bytes)
{
	size_t at = (size_t)snprintf(ret, bytes, "Nodes 2\nConnections %u\nTriggers %u\n",
				     STEPS + 2, STEPS);
	for (uint32_t step = 0; step < STEPS; step++) {
		char begins[32] = "start 0", last[32] = "";
		if (step > 0)
			snprintf(begins, sizeof(begins), "trigger %u", step);
		if (step + 1 == STEPS)
			snprintf(last, sizeof(last), "recv_done_trigger %u", STEPS);
		at += (size_t)snprintf(ret + at, bytes - at,
				       "%u->%u %s size %u send_done_trigger %u %s\n", step % 2,
				       1 - step % 2, begins, BYTES, step + 1, last);
	}
	at += (size_t)snprintf(ret + at, bytes - at,
			       "0->1 trigger %u size %u\n1->0 trigger %u size %u\n", STEPS, BYTES,
			       STEPS, BYTES);
	for (uint32_t step = 1; step <= STEPS; step++)
		at += (size_t)snprintf(ret + at, bytes - at, "trigger id %u %s\n", step,
				       step == STEPS ? "barrier" : "oneshot");
	assert_true(at < bytes);
}

static void triggers_go_there_and_back(void **)
{
	static struct shared shared;
	static struct end ends[HOSTS];
	static char matrix[4096];
	void *contexts[HOSTS] = {&ends[0], &ends[1]};
	pthread_t carrier;
	cpu_set_t cpus;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) < (int)HOSTS) {
		printf("one CPU, and two hosts want one each: skipped\n");
		skip();
	}
	write_matrix(matrix, sizeof(matrix));
	pair_matrix = matrix;
	pair_times = "rto: 300ms, hole_age: 30ms"; // others have the cores, too
	open_kind = open_rings;
	struct pair *pair = pair_open_of(
		pair_build_of("kind: matrix, matrix: as-given", "", "200us"));
	pair->ports.ops = inner; // the ports as they are
	shared.pair = pair;
	for (uint32_t host = 0; host < HOSTS; host++)
		ends[host] = (struct end){&shared, {&shared.ending, host}};
	assert_int_equal(pthread_create(&carrier, NULL, carry, &shared), 0);
	dpdk_run(run_end, contexts, HOSTS);
	__atomic_store_n(&shared.is_over, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(carrier, NULL), 0);
	uint64_t told = 0, heard = 0;
	for (uint32_t host = 0; host < HOSTS; host++) {
		const struct wall_counts *counts = wall_counts(pair->wall[host]);
		assert_int_equal(shared.ended[host], WALL_END_DONE);
		assert_int_equal(counts->payload_bytes_good, (STEPS / 2 + 1) * BYTES);
		assert_int_equal(counts->payload_bytes_wrong, 0);
		told += counts->triggers_told;
		heard += counts->triggers_heard;
	}
	assert_int_equal(shared.strange, 0);
	assert_int_equal(told, STEPS - 1 + 2); // the halves of the barrier go to the other end
	assert_int_equal(heard, told);
	assert_int_equal(shared.carried, told);
	pair_close(pair);
}
