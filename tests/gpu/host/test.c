// SPDX-License-Identifier: Apache-2.0
// The generator for devices, on the device of threads (cuda_runtime.h): that its graphs, flags,
// barriers and endings are right. tests/drive/gpu_threads.sh builds and runs it.

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/gpu/gpu_record.h>

#include "device_clock.h"

#define MS INT64_C(1000000)
#define RANKS 4u
#define BUCKETS 2u
#define SLICES 2u
#define SLICE_BYTES UINT64_C(1024)
#define STEP_PARTS (2 * BUCKETS + BUCKETS * SLICES * 2 + 1) // a gate and a compute of each bucket

static struct refusal refusal;
bool host_has_one_queue;

static void put(struct gpu_record *to, uint32_t step, enum gpu_work work, uint32_t bucket,
		uint32_t slice, int64_t compute_ns, int64_t wait_ns)
{
	to->parts[to->part_count++] = (struct gpu_record_part){work,  step,	  bucket,
							       slice, compute_ns, wait_ns};
}

static int64_t compute_ns = MS; // of a compute

static struct gpu_record recorded(uint32_t rank, uint32_t steps, uint32_t element_bytes)
{
	struct gpu_record record = {.rank = rank,
				    .ranks = RANKS,
				    .buckets = BUCKETS,
				    .steps = steps,
				    .element_bytes = element_bytes,
				    .slice_bytes = SLICE_BYTES,
				    .seed = 3};
	record.parts = calloc(steps * STEP_PARTS + BUCKETS, sizeof(*record.parts));
	for (uint32_t step = 0; step < steps; step++) {
		for (uint32_t i = 0; i < BUCKETS; i++) {
			put(&record, step, GPU_COMPUTE, i, 0, compute_ns, i * MS);
			put(&record, step, GPU_GATE, i, 0, MS, step > 0 ? MS : 0);
		}
		for (uint32_t i = 0; i < BUCKETS * SLICES; i++) {
			put(&record, step, GPU_FILL, i / SLICES, i % SLICES, MS, 0);
			put(&record, step, GPU_REDUCE, i / SLICES, i % SLICES, 0, 2 * MS);
		}
		put(&record, step, GPU_UPDATE, 0, 0, MS, MS);
	}
	for (uint32_t i = 0; i < BUCKETS; i++)
		put(&record, steps, GPU_GATE, i, 0, 0, MS);
	if (gpu_record_seal(&record, &refusal) < 0)
		fail_msg("%u: %s", refusal.line, refusal.text);
	return record;
}

struct played {
	struct gpu_link here, there;
	struct gpu_link_figures figures[2];
	int64_t first_ns, last_ns; // ends of the first computation, from the start on, and the last
	int rc;
};

// Ranks 0 to count - 1 on the device, the others played.
static struct played play(uint32_t count, uint32_t steps, uint32_t element_bytes, bool has_barrier,
			  enum gpu_load load, enum gpu_damage damage)
{
	const uint32_t rows[] = {0, 1};
	struct gpu_record records[2] = {recorded(0, steps, element_bytes),
					recorded(1, steps, element_bytes)};
	struct gpu_replay *replay;
	struct played ret = {0};
	assert_int_equal(gpu_record_link(&ret.here, NULL, records, count, has_barrier, &refusal),
			 0);
	assert_int_equal(gpu_link_join(&ret.there, &ret.here, &refusal), 0);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(gpu_link_claim(&ret.there, i, "threads", &refusal), 0);
	assert_int_equal(gpu_replay_start(&replay, &ret.here, records, damage, &refusal), 0);
	const struct gpu_generator_options options = {
		.ranks = rows, .rank_count = count, .load = load};
	ret.rc = gpu_cuda_run(&ret.there, &options, 0, &refusal);
	if (ret.rc < 0)
		print_message("%s\n", refusal.text);
	gpu_replay_end(replay);
	for (uint32_t i = 0; i < count; i++)
		ret.figures[i] = ret.there.ranks[i].figures;
	uint32_t last = ret.here.header->op_count - 1;
	ret.first_ns = gpu_link_flag_of(&ret.here, ret.here.done, 0, 0)->at_ns -
		ret.here.header->start_ns;
	ret.last_ns = gpu_link_flag_of(&ret.here, ret.here.done, 0, last)->at_ns;
	gpu_link_close(&ret.there);
	gpu_link_close(&ret.here);
	gpu_record_free(&records[0]);
	gpu_record_free(&records[1]);
	return ret;
}

static void check_figures(const struct gpu_link_figures *of, uint32_t steps, uint32_t element_bytes)
{
	uint64_t bytes = BUCKETS * SLICES * SLICE_BYTES;
	assert_int_equal(of->wrong, 0);
	assert_int_equal(of->releases, steps * BUCKETS * SLICES);
	assert_int_equal(of->elements,
			 steps * (bytes * (RANKS - 1) / RANKS + bytes) / element_bytes);
	// nothing is shorter than it computes and waits, as far as the clocks can be told apart;
	// the device computes by its own clock, which is fast
	int64_t error_ns = 2 * of->clock_error_ns, step_ns = 11 * MS - 11 * MS / HOST_DEVICE_FAST;
	assert_true(of->step_min_ns + error_ns >= step_ns);
	assert_true(of->run_ns + error_ns >= steps * step_ns);
	assert_true(of->gates_ns + BUCKETS * (steps + 1) * error_ns >= (int64_t)steps * MS);
	assert_true(of->compute_wait_ns > 0 && of->late_p99_ns >= 0);
}

static void steps_are_whole_and_sums_are_right(void **)
{
	for (uint32_t element_bytes = 2; element_bytes <= 4; element_bytes += 2) {
		struct played of = play(1, 6, element_bytes, false, GPU_LOAD_SPIN, GPU_DAMAGE_NONE);
		assert_int_equal(of.rc, 0);
		check_figures(&of.figures[0], 6, element_bytes);
		assert_int_equal(of.figures[0].barrier_ns, 0);
		assert_true(of.first_ns + 2 * of.figures[0].clock_error_ns >=
			    compute_ns - compute_ns / HOST_DEVICE_FAST);
		// the device's clock runs away, but what it says of times lies within its error
		assert_true(of.figures[0].clock_error_ns > 0);
		assert_true(of.last_ns <= gpu_clock_ns() + of.figures[0].clock_error_ns);
	}
}

// A device need not run branches beside each other.
static void branches_may_run_one_behind_the_other(void **)
{
	host_has_one_queue = true;
	struct played of = play(1, 3, 2, false, GPU_LOAD_SPIN, GPU_DAMAGE_NONE);
	host_has_one_queue = false;
	assert_int_equal(of.rc, 0);
	check_figures(&of.figures[0], 3, 2);
}

static void two_ranks_meet_at_each_step(void **)
{
	struct played of = play(2, 4, 2, true, GPU_LOAD_SPIN, GPU_DAMAGE_NONE);
	assert_int_equal(of.rc, 0);
	check_figures(&of.figures[0], 4, 2);
	check_figures(&of.figures[1], 4, 2);
	assert_true(of.figures[0].barrier_ns > 0 && of.figures[1].barrier_ns > 0);
}

// A unit takes long here, and where others compute longer still: the computation grows until one
// fits.
static struct gpu_link_figures loaded(enum gpu_load load)
{
	struct played of = {0};
	for (compute_ns = 20 * MS; compute_ns <= 1280 * MS; compute_ns *= 4) {
		of = play(1, 1, 2, false, load, GPU_DAMAGE_NONE);
		assert_int_equal(of.rc, 0);
		check_figures(&of.figures[0], 1, 2);
		if (of.figures[0].load_bytes + of.figures[0].load_flops > 0)
			break;
	}
	compute_ns = MS;
	return of.figures[0];
}

static void a_load_is_done_and_told(void **)
{
	struct gpu_link_figures of = loaded(GPU_LOAD_COPY);
	assert_true(of.load_bytes > 0 && of.load_flops == 0);
	of = loaded(GPU_LOAD_MATRIX);
	assert_true(of.load_flops > 0 && of.load_bytes == 0);
}

static void damage_is_found(void **)
{
	assert_int_equal(play(1, 2, 2, false, GPU_LOAD_SPIN, GPU_DAMAGE_BIT).figures[0].wrong, 1);
	assert_true(play(1, 2, 2, false, GPU_LOAD_SPIN, GPU_DAMAGE_SWAP).figures[0].wrong > 1);
}

// ---------------------------------------------------------------- endings

struct ending {
	struct gpu_link *here;
	volatile sig_atomic_t stop;
	bool is_run; // it is the run that goes
	int64_t at_ns;
};

static void *end_it(void *context)
{
	struct ending *of = context;
	struct timespec nap = {0, 300 * MS};
	while (gpu_link_rank_state(of->here, 0) != GPU_RANK_READY)
		nanosleep(&(struct timespec){0, MS}, NULL);
	gpu_link_set_host(of->here, GPU_HOST_RUNS, gpu_clock_ns());
	for (uint32_t i = 0; i < of->here->header->op_count; i++) // up to the first sum
		if (of->here->ops[i].work == GPU_COMPUTE && of->here->ops[i].step == 0)
			gpu_link_raise(gpu_link_flag_of(of->here, of->here->asked, 0, i),
				       gpu_clock_ns());
	nanosleep(&nap, NULL);
	of->at_ns = gpu_clock_ns();
	if (of->is_run)
		gpu_link_set_host(of->here, GPU_HOST_FAILED, 0);
	else
		of->stop = 1;
	return NULL;
}

// Kernels wait for what never comes: they end all the same, and say of nothing that it was done.
static void whoever_goes_the_other_ends(void **)
{
	for (int is_run = 0; is_run < 2; is_run++) {
		struct gpu_link here, there;
		struct gpu_record record = recorded(0, 3, 2);
		const uint32_t row = 0;
		pthread_t thread;
		assert_int_equal(gpu_record_link(&here, NULL, &record, 1, false, &refusal), 0);
		assert_int_equal(gpu_link_join(&there, &here, &refusal), 0);
		assert_int_equal(gpu_link_claim(&there, 0, "threads", &refusal), 0);
		struct ending ending = {.here = &here, .is_run = is_run != 0};
		const struct gpu_generator_options options = {
			.ranks = &row, .rank_count = 1, .stop = &ending.stop};
		assert_int_equal(pthread_create(&thread, NULL, end_it, &ending), 0);
		int rc = gpu_cuda_run(&there, &options, 0, &refusal);
		pthread_join(thread, NULL);
		assert_int_equal(rc, is_run ? -ECONNRESET : -EINTR);
		assert_true(gpu_clock_ns() - ending.at_ns < 1000 * MS);
		for (uint32_t i = 0; i < here.header->op_count; i++) {
			bool can_end = here.ops[i].step == 0 && here.ops[i].work != GPU_REDUCE &&
				here.ops[i].work != GPU_UPDATE;
			bool is_done = gpu_link_is_raised(gpu_link_flag_of(&here, here.done, 0, i));
			assert_int_equal(is_done, can_end);
		}
		gpu_link_close(&there);
		gpu_link_close(&here);
		gpu_record_free(&record);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_whole_and_sums_are_right),
		cmocka_unit_test(branches_may_run_one_behind_the_other),
		cmocka_unit_test(two_ranks_meet_at_each_step),
		cmocka_unit_test(a_load_is_done_and_told),
		cmocka_unit_test(damage_is_found),
		cmocka_unit_test(whoever_goes_the_other_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
