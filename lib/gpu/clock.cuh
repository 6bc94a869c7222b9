// SPDX-License-Identifier: Apache-2.0
// The device's clock against the system's, and who watches while a device computes. See generator.cu.
#pragma once

#include <stdlib.h>
#include <time.h>

#include "generator.cuh"

static bool is_answered(const struct cuda_generator *all, unsigned turn, long long begin_ns)
{
	const struct pinned *pinned = all->pinned;
	while (__atomic_load_n(&pinned->answered, __ATOMIC_ACQUIRE) != turn)
		if (gpu_clock_ns() > begin_ns + 2000000000 ||
		    __atomic_load_n(&pinned->stop, __ATOMIC_ACQUIRE) != 0)
			return false;
	return true;
}

// The system's clock around the shortest answer of the device: the middle is the device's time, half
// of it the error. What the relation moved since the look before is an error, too.
static int relate_clocks(struct cuda_generator *all, unsigned turns, bool is_first,
			 struct refusal *refusal)
{
	long long best_ns = INT64_MAX, offset_ns = 0;
	struct pinned *pinned = all->pinned, *view = all->pinned_view;
	pinned->turn = pinned->answered = 0;
	LAUNCH(answer_clock, 1, 1, all->clock, &view->turn, &view->answered, view->stamps,
	       &view->stop, turns);
	TRY(refusal, "the device's clock", cudaGetLastError());
	for (unsigned i = 0; i < turns; i++) {
		long long begin_ns = gpu_clock_ns();
		__atomic_store_n(&pinned->turn, i + 1, __ATOMIC_RELEASE);
		if (!is_answered(all, i + 1, begin_ns)) {
			__atomic_store_n(&pinned->stop, 1u, __ATOMIC_RELEASE);
			return refuse(refusal, -ENODEV, "the device does not answer");
		}
		long long took_ns = gpu_clock_ns() - begin_ns;
		if (took_ns >= best_ns)
			continue;
		best_ns = took_ns;
		offset_ns = pinned->stamps[i] - (begin_ns + took_ns / 2);
	}
	long long moved_ns = is_first ? 0 : llabs(offset_ns - pinned->offset_ns);
	if (best_ns / 2 + moved_ns > all->clock_error_ns)
		all->clock_error_ns = best_ns / 2 + moved_ns;
	__atomic_store_n(&pinned->offset_ns, offset_ns, __ATOMIC_RELAXED);
	TRY(refusal, "the device's clock", cudaStreamSynchronize(all->clock));
	return 0;
}

// ---------------------------------------------------------------- the watcher

// Beats, looks after the run, and relates the clocks, whatever the launching thread waits for. Who
// is lost ends all kernels.
static void *watch(void *context)
{
	struct cuda_generator *all = (struct cuda_generator *)context;
	long long looked_ns = gpu_clock_ns();
	while (__atomic_load_n(&all->is_over, __ATOMIC_ACQUIRE) == 0) {
		int rc = gpu_watch_look(&all->watch, &all->watch_refusal);
		bool is_due = gpu_clock_ns() > looked_ns + LOOK_NS &&
			gpu_link_host_state(all->link) == GPU_HOST_RUNS;
		if (rc == 0 && is_due) {
			rc = relate_clocks(all, CLOCK_TURNS, false, &all->watch_refusal);
			looked_ns = gpu_clock_ns();
		}
		if (rc < 0) {
			__atomic_store_n(&all->pinned->stop, 1u, __ATOMIC_RELEASE);
			__atomic_store_n(&all->watch_rc, rc, __ATOMIC_RELEASE);
			return NULL;
		}
		struct timespec nap = {0, NAP_NS};
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static int start_watcher(struct cuda_generator *all, struct refusal *refusal)
{
	if (pthread_create(&all->watcher, NULL, watch, all) != 0)
		return refuse(refusal, -EAGAIN, "the system gives no thread");
	all->has_watcher = true;
	return 0;
}

static void end_watcher(struct cuda_generator *all)
{
	__atomic_store_n(&all->is_over, 1u, __ATOMIC_RELEASE);
	if (all->has_watcher)
		pthread_join(all->watcher, NULL);
	all->has_watcher = false;
}

// What the watcher found, if anything.
static int look(struct cuda_generator *all, struct refusal *refusal)
{
	int rc = __atomic_load_n(&all->watch_rc, __ATOMIC_ACQUIRE);
	if (rc < 0)
		*refusal = all->watch_refusal;
	struct timespec nap = {0, NAP_NS};
	nanosleep(&nap, NULL);
	return rc;
}
