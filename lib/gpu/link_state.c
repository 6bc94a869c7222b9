// SPDX-License-Identifier: Apache-2.0
// What passes over a link: claims, states, heartbeats, flags, times of steps; and whether its file
// was written over meanwhile. See gpu_link.h.

#include <weft/gpu/gpu_link.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/gpu/gpu_lateness.h>

#include "link_file.h"

#define NS_PER_S INT64_C(1000000000)

int64_t gpu_clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int gpu_link_claim(struct gpu_link *link, uint32_t rank, const char *device,
		   struct refusal *refusal)
{
	if (rank >= link->header->rank_count) {
		refuse_file(refusal, -EINVAL, link->path, "");
		return refuse(refusal, -EINVAL, "there is no rank %: the run has %", rank,
			      link->header->rank_count);
	}
	if (link_file_lock(link->fd, 1 + (off_t)rank) < 0 ||
	    gpu_link_rank_state(link, rank) != GPU_RANK_FREE) {
		refuse_file(refusal, -EBUSY, link->path, "");
		return refuse(refusal, -EBUSY, "rank % has a generator", rank);
	}
	struct gpu_link_rank *of = &link->ranks[rank];
	of->pid = (uint32_t)getpid();
	snprintf(of->device, sizeof(of->device), "%s", device);
	gpu_link_beat_rank(link, rank, gpu_clock_ns());
	return 0;
}

// ---------------------------------------------------------------- states and flags

void gpu_link_set_rank(struct gpu_link *link, uint32_t rank, enum gpu_rank_state state)
{
	__atomic_store_n(&link->ranks[rank].state, (uint32_t)state, __ATOMIC_RELEASE);
}

enum gpu_rank_state gpu_link_rank_state(const struct gpu_link *link, uint32_t rank)
{
	uint32_t state = __atomic_load_n(&link->ranks[rank].state, __ATOMIC_ACQUIRE);
	return state <= GPU_RANK_FAILED ? (enum gpu_rank_state)state : GPU_RANK_FAILED;
}

void gpu_link_device(const struct gpu_link *link, uint32_t rank, char ret[GPU_NAME_BYTES])
{
	memcpy(ret, link->ranks[rank].device, GPU_NAME_BYTES);
	ret[GPU_NAME_BYTES - 1] = '\0';
	for (char *at = ret; *at != '\0'; at++)
		*at = *at >= ' ' && *at < 127 ? *at : '?';
}

void gpu_link_tell(struct gpu_link *link, uint32_t rank, const struct gpu_link_figures *figures)
{
	link->figures[rank] = *figures;
	link->ranks[rank].figures = *figures;
	gpu_link_set_rank(link, rank, GPU_RANK_DONE);
}

void gpu_link_set_host(struct gpu_link *link, enum gpu_host_state state, int64_t start_ns)
{
	link->header->start_ns = link->shared->start_ns = start_ns;
	__atomic_store_n(&link->shared->state, (uint32_t)state, __ATOMIC_RELEASE);
}

enum gpu_host_state gpu_link_host_state(const struct gpu_link *link)
{
	uint32_t state = __atomic_load_n(&link->shared->state, __ATOMIC_ACQUIRE);
	return state >= GPU_HOST_WAITS && state <= GPU_HOST_FAILED ? (enum gpu_host_state)state
								   : GPU_HOST_FAILED;
}

int gpu_link_take_start(struct gpu_link *link, struct refusal *refusal)
{
	int64_t start_ns = __atomic_load_n(&link->shared->start_ns, __ATOMIC_RELAXED);
	if (start_ns < 0 || start_ns > gpu_clock_ns() + GPU_SILENT_NS)
		return refuse_file(refusal, -EPROTO, link->path,
				   "the link is damaged: its start cannot be");
	link->header->start_ns = start_ns;
	return 0;
}

void gpu_link_beat_host(struct gpu_link *link, int64_t now_ns)
{
	__atomic_store_n(&link->shared->beat_ns, now_ns, __ATOMIC_RELAXED);
}

void gpu_link_beat_rank(struct gpu_link *link, uint32_t rank, int64_t now_ns)
{
	__atomic_store_n(&link->ranks[rank].beat_ns, now_ns, __ATOMIC_RELAXED);
}

static enum gpu_peer peer_is(const struct gpu_link *link, off_t byte, const int64_t *beat_ns,
			     int64_t now_ns)
{
	if (!link_file_is_locked(link->fd, byte))
		return GPU_PEER_GONE;
	int64_t beat = __atomic_load_n(beat_ns, __ATOMIC_RELAXED);
	bool is_ahead = beat > gpu_clock_ns() + GPU_AHEAD_NS; // it would never be old
	return is_ahead || beat < now_ns - GPU_SILENT_NS ? GPU_PEER_SILENT : GPU_PEER_HERE;
}

enum gpu_peer gpu_link_host_is(const struct gpu_link *link, int64_t now_ns)
{
	return peer_is(link, 0, &link->shared->beat_ns, now_ns);
}

enum gpu_peer gpu_link_rank_is(const struct gpu_link *link, uint32_t rank, int64_t now_ns)
{
	return peer_is(link, 1 + (off_t)rank, &link->ranks[rank].beat_ns, now_ns);
}

void gpu_link_raise(struct gpu_link_flag *flag, int64_t at_ns)
{
	flag->at_ns = at_ns;
	__atomic_store_n(&flag->is_set, 1, __ATOMIC_RELEASE);
}

bool gpu_link_is_raised(const struct gpu_link_flag *flag)
{
	return __atomic_load_n(&flag->is_set, __ATOMIC_ACQUIRE) != 0;
}

enum gpu_look gpu_link_look(const struct gpu_link_flag *flag, int64_t *ret_at_ns)
{
	if (!gpu_link_is_raised(flag))
		return GPU_LOOK_DOWN;
	*ret_at_ns = __atomic_load_n(&flag->at_ns, __ATOMIC_RELAXED);
	bool can_be = *ret_at_ns >= 0 && *ret_at_ns <= gpu_clock_ns() + GPU_AHEAD_NS;
	return can_be ? GPU_LOOK_UP : GPU_LOOK_WRONG;
}

bool gpu_link_have_ended(const struct gpu_link *link, uint32_t steps)
{
	for (uint32_t rank = 0; rank < link->header->rank_count; rank++)
		if (__atomic_load_n(&link->ranks[rank].step, __ATOMIC_ACQUIRE) < steps)
			return false;
	return true;
}

// ---------------------------------------------------------------- steps

static int refuse_times(const struct gpu_link *link, struct refusal *refusal)
{
	return refuse_file(refusal, -EPROTO, link->path,
			   "the link is damaged: a computation ended when it cannot have");
}

// Ends of updates, each behind the one before.
static int note_steps(const struct gpu_link *link, uint32_t rank, struct gpu_lateness *steps,
		      struct gpu_link_figures *figures, struct refusal *refusal)
{
	int64_t begin_ns = link->header->start_ns, end_ns;
	for (uint32_t i = 0; i < link->header->op_count; i++) {
		const struct gpu_link_flag *done = gpu_link_flag_of(link, link->done, rank, i);
		if (link->ops[i].work != GPU_UPDATE)
			continue;
		if (gpu_link_look(done, &end_ns) != GPU_LOOK_UP || end_ns < begin_ns)
			return refuse_times(link, refusal);
		gpu_lateness_add(steps, end_ns - begin_ns);
		figures->step_mean_ns += end_ns - begin_ns;
		begin_ns = end_ns;
	}
	return 0;
}

int gpu_link_measure_steps(const struct gpu_link *link, uint32_t rank,
			   struct gpu_link_figures *figures, struct refusal *refusal)
{
	struct gpu_lateness steps;
	const char *wrong = gpu_link_wrong(
		link); // a last look: what is reported is of a sound link
	if (wrong != NULL)
		return refuse_file(refusal, -EPROTO, link->path, wrong);
	if (gpu_lateness_init(&steps, link->header->op_count) < 0)
		return refuse(refusal, -ENODEV, "no memory for the times of steps");
	figures->step_mean_ns = 0;
	int rc = note_steps(link, rank, &steps, figures, refusal);
	figures->step_mean_ns /= steps.count > 0 ? steps.count : 1;
	figures->step_min_ns = gpu_lateness_quantile(&steps, 0);
	figures->step_p50_ns = gpu_lateness_quantile(&steps, 500);
	figures->step_max_ns = gpu_lateness_quantile(&steps, 1000);
	gpu_lateness_free(&steps);
	return rc;
}

// ---------------------------------------------------------------- what was done to the file

// What changes in a header apart, it is as it was read. The start may be taken by another thread
// just now.
static bool is_written_over(const struct gpu_link *link)
{
	struct gpu_link_header now, read;
	memcpy(&now, link->shared, sizeof(now));
	memcpy(&read, link->header, sizeof(read));
	now.state = read.state = 0;
	now.start_ns = read.start_ns = 0;
	now.beat_ns = read.beat_ns = 0;
	return memcmp(&now, &read, sizeof(now)) != 0;
}

void gpu_link_note(const struct gpu_link *link, const struct gpu_link_flag *flag)
{
	uint64_t half = link_flags(link->header) / 2;
	uint64_t at = flag >= link->done && flag < link->done + half
		? half + (uint64_t)(flag - link->done)
		: (uint64_t)(flag - link->asked);
	__atomic_store_n(&link->seen[at], 1, __ATOMIC_RELAXED);
}

void gpu_link_raise_own(const struct gpu_link *link, struct gpu_link_flag *flag, int64_t at_ns)
{
	gpu_link_raise(flag, at_ns);
	gpu_link_note(link, flag);
}

// Whether a state went back. The highest that was seen is kept.
static bool is_back(uint32_t *seen, uint32_t now)
{
	uint32_t before = __atomic_load_n(seen, __ATOMIC_RELAXED);
	if (now > before)
		__atomic_store_n(seen, now, __ATOMIC_RELAXED);
	return now < before;
}

// Whether the file holds what it held before. States of ranks are the run's to look at.
static bool is_rewound(const struct gpu_link *link)
{
	uint32_t ranks = link->header->rank_count;
	uint64_t half = link_flags(link->header) / 2;
	bool is_over = is_back(&link->states[ranks],
			       __atomic_load_n(&link->shared->state, __ATOMIC_ACQUIRE));
	for (uint64_t i = 0; i < 2 * half; i++) {
		const struct gpu_link_flag *flag = i < half ? &link->asked[i]
							    : &link->done[i - half];
		bool was_up = __atomic_load_n(&link->seen[i], __ATOMIC_RELAXED) != 0;
		if (gpu_link_is_raised(flag))
			gpu_link_note(link, flag);
		else
			is_over |= was_up;
	}
	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint32_t step = __atomic_load_n(&link->ranks[rank].step, __ATOMIC_ACQUIRE);
		is_over |= is_back(&link->states[rank], step);
	}
	return is_over;
}

const char *gpu_link_wrong(const struct gpu_link *link)
{
	struct stat status;
	bool has_size = fstat(link->fd, &status) == 0 && (uint64_t)status.st_size == link->bytes;
	bool is_over = is_written_over(link) ||
		is_rewound(link); // a look that may find that its page is gone
	if (!has_size || link_guard_is_lost(link->guard))
		return "the link is damaged: its file was cut or stretched while it was in use";
	return is_over ? "the link is damaged: its file was written over while it was in use"
		       : NULL;
}
