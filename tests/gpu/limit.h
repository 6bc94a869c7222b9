// SPDX-License-Identifier: Apache-2.0
// A time limit for a check of check.c: what takes longer is told where it stands, asked to end,
// and, where it does not end either, ended with the program.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <weft/gpu/gpu_record.h>

#define LIMIT_S INT64_C(1000000000)
#define LIMIT_GRACE_NS (10 * LIMIT_S) // to end in, for who was asked to

struct limit {
	const char *what;
	const struct gpu_link *link; // NULL: nothing of it can be asked to end
	int64_t limit_ns;
	volatile sig_atomic_t stop; // for the generator's options
	uint32_t is_over;	    // atomic
	pthread_t thread;
	bool has_thread;
};

// The first computation that is not done, of sums or of the others.
static void limit_tell_op(const struct gpu_link *link, uint32_t rank, bool is_sum)
{
	for (uint32_t i = 0; i < link->header->op_count; i++) {
		const struct gpu_link_op *op = &link->ops[i];
		if ((op->work == GPU_REDUCE) != is_sum ||
		    gpu_link_is_raised(gpu_link_flag_of(link, link->done, rank, i)))
			continue;
		bool is_asked = gpu_link_is_raised(gpu_link_flag_of(link, link->asked, rank, i));
		fprintf(stderr, "check:   first %s open: %s, step %u, bucket %u, slice %u: %s\n",
			is_sum ? "sum" : "computation", gpu_work_names[op->work], op->step,
			op->bucket, op->slice,
			is_asked		     ? "asked for, not done"
				: op->needs_messages ? "not asked for"
						     : "needs no asking, not done");
		return;
	}
	fprintf(stderr, "check:   all %s are done\n", is_sum ? "sums" : "computations");
}

static void limit_tell_rank(const struct gpu_link *link, uint32_t rank)
{
	static const char *const runs[] = {"?", "waits", "runs", "is done", "has failed"};
	static const char *const ranks[] = {"is free", "is ready", "is done", "has failed"};
	uint32_t asked = 0, done = 0;
	for (uint32_t i = 0; i < link->header->op_count; i++) {
		asked += gpu_link_is_raised(gpu_link_flag_of(link, link->asked, rank, i));
		done += gpu_link_is_raised(gpu_link_flag_of(link, link->done, rank, i));
	}
	int64_t beat_ns = __atomic_load_n(&link->ranks[rank].beat_ns, __ATOMIC_RELAXED);
	fprintf(stderr,
		"check:   the run %s, rank %u %s, its last beat is %.1f s old; of %u computations "
		"%u were asked for, %u are done\n",
		runs[gpu_link_host_state(link)], rank, ranks[gpu_link_rank_state(link, rank)],
		(double)(gpu_clock_ns() - beat_ns) / LIMIT_S, link->header->op_count, asked, done);
	limit_tell_op(link, rank, false);
	limit_tell_op(link, rank, true);
}

// Whether it was over before `ns`.
static bool limit_wait(const struct limit *of, int64_t ns)
{
	int64_t until_ns = gpu_clock_ns() + ns;
	while (gpu_clock_ns() < until_ns) {
		if (__atomic_load_n(&of->is_over, __ATOMIC_ACQUIRE) != 0)
			return true;
		nanosleep(&(struct timespec){0, 20000000}, NULL);
	}
	return false;
}

static void *limit_watch(void *context)
{
	struct limit *of = context;
	if (limit_wait(of, of->limit_ns))
		return NULL;
	fprintf(stderr, "check: %s: not over within %g s\n", of->what,
		(double)of->limit_ns / LIMIT_S);
	for (uint32_t i = 0; of->link != NULL && i < of->link->header->rank_count; i++)
		limit_tell_rank(of->link, i);
	of->stop = 1;
	if (limit_wait(of, LIMIT_GRACE_NS))
		return NULL;
	fputs("check: it does not end: a call of the driver does not return\n", stderr);
	_exit(1); // lines and JSON were written as they came
}

static void limit_begin(struct limit *of, const char *what, const struct gpu_link *link,
			int64_t limit_ns)
{
	*of = (struct limit){.what = what, .link = link, .limit_ns = limit_ns};
	of->has_thread = pthread_create(&of->thread, NULL, limit_watch, of) == 0;
}

static void limit_end(struct limit *of)
{
	__atomic_store_n(&of->is_over, 1u, __ATOMIC_RELEASE);
	if (of->has_thread)
		pthread_join(of->thread, NULL);
}
