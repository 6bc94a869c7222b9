// SPDX-License-Identifier: Apache-2.0
// The link: its layout, who holds what, and that the other end's death shows.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/gpu/gpu_link.h>

#define MS INT64_C(1000000)

static char path[64];
static struct refusal refusal;
static const struct gpu_link_shape shape = {.rank_count = 3,
					    .op_count = 5,
					    .stretch_bytes = 4 * 96,
					    .bucket_bytes = 2 * 96,
					    .slice_bytes = 96,
					    .block_bytes = 32,
					    .element_bytes = 2,
					    .seed = 9,
					    .dilation_milli = 1000};

static int set_up(void **)
{
	snprintf(path, sizeof(path), "%s/weft-link-test-%d", P_tmpdir, (int)getpid());
	unlink(path);
	return 0;
}

static int tear_down(void **)
{
	unlink(path);
	return 0;
}

static const struct gpu_link_op ops[] = {
	{.work = GPU_GATE, .bytes = 192},
	{.work = GPU_FILL, .offset = 96, .bytes = 96},
	{.work = GPU_REDUCE, .needs_messages = 1, .offset = 96, .bytes = 96},
	{.work = GPU_UPDATE, .needs_messages = 1, .bytes = 384},
	{.work = GPU_GATE, .step = 1, .bytes = 192}};

static struct gpu_link made(void)
{
	struct gpu_link link;
	if (gpu_link_create(&link, path, &shape, &refusal) < 0)
		fail_msg("%s", refusal.text);
	memcpy(link.ops, ops, sizeof(ops));
	return link;
}

static void offer(struct gpu_link *link)
{
	if (gpu_link_offer(link, &refusal) < 0)
		fail_msg("%s", refusal.text);
}

static struct gpu_link opened(void)
{
	struct gpu_link link;
	if (gpu_link_open(&link, path, 1000 * MS, NULL, &refusal) < 0)
		fail_msg("%s", refusal.text);
	return link;
}

static void both_ends_see_the_same(void **)
{
	struct gpu_link run = made();
	run.ops[4].offset = 96;
	offer(&run);
	struct gpu_link generator = opened();
	assert_int_equal(generator.header->rank_count, 3);
	assert_int_equal(generator.ops[4].offset, 96);
	gpu_link_raise(gpu_link_flag_of(&generator, generator.done, 2, 4), 123);
	assert_true(gpu_link_is_raised(gpu_link_flag_of(&run, run.done, 2, 4)));
	assert_false(gpu_link_is_raised(gpu_link_flag_of(&run, run.done, 2, 3)));
	assert_int_equal(gpu_link_flag_of(&run, run.done, 2, 4)->at_ns, 123);
	memset(gpu_link_buffer(&generator, 2), 0x5a, 3 * shape.stretch_bytes);
	assert_int_equal(gpu_link_buffer(&run, 2)[3 * shape.stretch_bytes - 1], 0x5a);
	assert_int_equal(gpu_link_buffer(&run, 1)[3 * shape.stretch_bytes - 1], 0);
	assert_int_equal((uintptr_t)gpu_link_buffer(&run, 1) % 4096, 0);
	gpu_link_close(&generator);
	gpu_link_close(&run);
	assert_int_equal(access(path, F_OK), -1);
}

static void parts_do_not_overlap(void **)
{
	struct gpu_link run = made();
	const struct gpu_link_header *header = run.header;
	uint64_t flags = 3 * 5 * sizeof(struct gpu_link_flag);
	assert_true(header->ops >= sizeof(*header));
	assert_true(header->ranks >= header->ops + 5 * sizeof(struct gpu_link_op));
	assert_true(header->asked >= header->ranks + 3 * sizeof(struct gpu_link_rank));
	assert_true(header->done >= header->asked + flags);
	assert_true(header->buffers >= header->done + flags);
	assert_true(header->file_bytes == header->buffers + 3 * header->buffer_bytes);
	assert_true(header->buffer_bytes >= 3 * shape.stretch_bytes);
	// the layout is a promise to others: its words stand where they stood
	assert_int_equal(sizeof(struct gpu_link_op), 48);
	assert_int_equal(sizeof(struct gpu_link_flag), 16);
	assert_int_equal(sizeof(struct gpu_link_rank), 280);
	assert_int_equal(sizeof(struct gpu_link_header), 168);
	assert_int_equal(offsetof(struct gpu_link_header, seed), 120);
	assert_int_equal(offsetof(struct gpu_link_header, start_ns), 152);
	gpu_link_close(&run);
}

static void a_damaged_header_is_refused(void **)
{
	struct gpu_link run = made();
	offer(&run);
	const uint64_t bytes = run.header->file_bytes;
	assert_null(gpu_link_header_wrong(run.header, bytes));
	assert_string_equal(gpu_link_header_wrong(run.header, bytes - 1),
			    "this link is damaged: it is not as long as it says");
	for (size_t at = 0; at < offsetof(struct gpu_link_header, host_pid); at += 4) {
		struct gpu_link_header wrong = *run.header;
		((uint32_t *)&wrong)[at / 4] ^= 0x10000;
		assert_non_null(gpu_link_header_wrong(&wrong, bytes));
	}
	gpu_link_close(&run);
}

static void shapes_that_do_not_fit_are_refused(void **)
{
	struct gpu_link link;
	struct gpu_link_shape wrong = shape;
	wrong.slice_bytes = 64;
	assert_int_equal(gpu_link_create(&link, path, &wrong, &refusal), -EINVAL);
	wrong = shape;
	wrong.element_bytes = 3;
	assert_int_equal(gpu_link_create(&link, path, &wrong, &refusal), -EINVAL);
	assert_int_equal(access(path, F_OK), -1);
}

// Another version of the layout, by a generator that would take it for its own.
static void another_version_is_refused(void **)
{
	struct gpu_link link, run = made();
	offer(&run);
	run.shared->version = GPU_LINK_VERSION + 1;
	assert_int_equal(gpu_link_open(&link, path, 100 * MS, NULL, &refusal), -EPROTO);
	assert_string_equal(refusal.text, "this link has the layout of another version");
	run.shared->version = GPU_LINK_VERSION;
	link = opened();
	gpu_link_close(&link);
	gpu_link_close(&run);
}

// Two of eight ranks are here: blocks are those of eight.
static void a_link_may_have_a_part_of_its_group(void **)
{
	struct gpu_link run;
	struct gpu_link_shape part = shape;
	part.rank_count = 2;
	part.group_ranks = 8;
	assert_int_equal(gpu_link_create(&run, path, &part, &refusal), -EINVAL);
	part.block_bytes = 12;
	assert_int_equal(gpu_link_create(&run, path, &part, &refusal), 0);
	assert_int_equal(run.header->group_ranks, 8);
	assert_true(run.header->file_bytes == run.header->buffers + 2 * run.header->buffer_bytes);
	gpu_link_close(&run);
	part.rank_count = 9;
	assert_int_equal(gpu_link_create(&run, path, &part, &refusal), -EINVAL);
}

static void steps_are_measured_by_their_updates(void **)
{
	struct gpu_link run = made();
	struct gpu_link_figures figures = {0};
	const int64_t ends_ns[] = {50, 120, 130, 200, 260};
	for (uint32_t i = 0; i < 5; i++)
		run.ops[i] = (struct gpu_link_op){
			.work = GPU_UPDATE, .needs_messages = 1, .step = i};
	offer(&run);
	run.header->start_ns = 20;
	for (uint32_t i = 0; i < 5; i++)
		gpu_link_raise(gpu_link_flag_of(&run, run.done, 1, i), ends_ns[i]);
	assert_int_equal(gpu_link_measure_steps(&run, 1, &figures, &refusal), 0);
	assert_int_equal(figures.step_min_ns, 10);
	assert_int_equal(figures.step_p50_ns, 60);
	assert_int_equal(figures.step_mean_ns, 48);
	assert_int_equal(figures.step_max_ns, 70);
	// a computation that ended before the one before it, or in a thousand years
	const int64_t wrong_ns[] = {40, INT64_MAX, -1};
	for (uint32_t i = 0; i < 3; i++) {
		gpu_link_raise(gpu_link_flag_of(&run, run.done, 1, 4), wrong_ns[i]);
		assert_int_equal(gpu_link_measure_steps(&run, 1, &figures, &refusal), -EPROTO);
	}
	gpu_link_close(&run);
}

static void figures_that_cannot_be_are_named(void **)
{
	const struct gpu_link_header header = {.op_count = 10, .rank_count = GPU_RANKS_MAX};
	const struct gpu_link_figures good = {.releases = 10,
					      .late_p50_ns = 1,
					      .late_p99_ns = 2,
					      .late_max_ns = 2,
					      .elements = INT64_MAX / GPU_RANKS_MAX};
	struct gpu_link_figures bad[6];
	assert_null(gpu_link_figures_wrong(&header, &good));
	for (int i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].releases = 11;
	bad[1].late_p50_ns = 3;
	bad[2].late_max_ns = 1;
	bad[3].gates_ns = -1;
	bad[4].elements++; // of all ranks together they are no signed number any more
	bad[5].wrong = bad[5].elements + 1;
	for (int i = 0; i < 6; i++)
		assert_non_null(gpu_link_figures_wrong(&header, &bad[i]));
}

static void a_rank_has_one_generator(void **)
{
	struct gpu_link run = made();
	offer(&run);
	struct gpu_link first = opened(), second = opened();
	assert_int_equal(gpu_link_claim(&first, 1, "first", &refusal), 0);
	assert_int_equal(gpu_link_claim(&second, 1, "second", &refusal), -EBUSY);
	assert_string_equal(refusal.text, "rank 1 has a generator");
	assert_int_equal(gpu_link_claim(&second, 3, "second", &refusal), -EINVAL);
	assert_int_equal(gpu_link_claim(&second, 2, "second", &refusal), 0);
	assert_string_equal(run.ranks[1].device, "first");
	gpu_link_close(&first);
	gpu_link_close(&second);
	gpu_link_close(&run);
}

static void nobody_waits_for_ever(void **)
{
	struct gpu_link link;
	int64_t begin = gpu_clock_ns();
	assert_int_equal(gpu_link_open(&link, path, 30 * MS, NULL, &refusal), -ETIMEDOUT);
	assert_true(gpu_clock_ns() - begin >= 30 * MS);
	struct gpu_link run = made(); // not offered yet
	assert_int_equal(gpu_link_open(&link, path, 10 * MS, NULL, &refusal), -ETIMEDOUT);
	assert_int_equal(gpu_link_create(&link, path, &shape, &refusal), -EBUSY);
	offer(&run);
	assert_int_equal(gpu_link_create(&link, path, &shape, &refusal), -EBUSY);
	gpu_link_close(&run);
}

static bool is_set_going; // atomic

static void *set_start(void *context)
{
	for (int64_t i = 0; __atomic_load_n(&is_set_going, __ATOMIC_RELAXED); i++)
		gpu_link_set_host(context, GPU_HOST_RUNS, i);
	return NULL;
}

// A thread takes the start while another looks after the link.
static void a_start_is_no_damage(void **)
{
	struct gpu_link link = made();
	pthread_t thread;
	offer(&link);
	__atomic_store_n(&is_set_going, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&thread, NULL, set_start, &link), 0);
	const char *wrong = NULL;
	for (int i = 0; i < 200000 && wrong == NULL; i++)
		wrong = gpu_link_wrong(&link);
	__atomic_store_n(&is_set_going, false, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	if (wrong != NULL)
		fail_msg("%s", wrong);
	gpu_link_close(&link);
}

// What the file held a while ago is written into it: header and beats are sound, and both ends
// would wait for flags and states that are down again.
static void what_was_there_before_is_damage(void **)
{
	static const char over[] =
		"the link is damaged: its file was written over while it was in use";
	for (int what = 0; what < 4; what++) {
		struct gpu_link run = made();
		offer(&run);
		struct gpu_link generator = opened();
		const uint64_t bytes = run.header->buffers;
		uint8_t *before = malloc(bytes);
		assert_int_equal(gpu_link_claim(&generator, 1, "cpu", &refusal), 0);
		memcpy(before, run.base, bytes);
		struct gpu_link_flag *flag = gpu_link_flag_of(
			&run, what == 0 ? run.asked : run.done, 1, 2);
		if (what < 2) {
			gpu_link_raise(flag, 1);
			gpu_link_note(&run, flag);
		} else if (what == 2) {
			gpu_link_set_host(&run, GPU_HOST_RUNS, 5);
		} else {
			__atomic_store_n(&generator.ranks[1].step, 1, __ATOMIC_RELEASE);
		}
		assert_null(gpu_link_wrong(&run));
		assert_null(gpu_link_wrong(&generator));
		memcpy(run.base, before, bytes);
		assert_string_equal(gpu_link_wrong(&run), over);
		assert_string_equal(gpu_link_wrong(&generator), over);
		free(before);
		gpu_link_close(&generator);
		gpu_link_close(&run);
	}
}

static void a_file_that_is_no_link_stays(void **)
{
	struct gpu_link link;
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "precious", 8), 8);
	close(fd);
	assert_int_equal(gpu_link_create(&link, path, &shape, &refusal), -EEXIST);
	assert_int_equal(access(path, F_OK), 0);
}

// A child that holds an end until it is killed.
static pid_t child_with(void (*hold)(void))
{
	int pipes[2];
	char byte;
	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	if (pid == 0) {
		hold();
		if (write(pipes[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

static void hold_run(void)
{
	struct gpu_link run = made();
	offer(&run);
}

static void hold_rank(void)
{
	struct gpu_link generator = opened();
	gpu_link_claim(&generator, 2, "child", &refusal);
}

static void a_killed_end_shows_at_once(void **)
{
	pid_t run = child_with(hold_run);
	struct gpu_link link = opened();
	assert_int_equal(gpu_link_host_is(&link, gpu_clock_ns()), GPU_PEER_HERE);
	assert_int_equal(gpu_link_host_is(&link, gpu_clock_ns() + GPU_SILENT_NS + MS),
			 GPU_PEER_SILENT);
	kill(run, SIGKILL);
	waitpid(run, NULL, 0);
	assert_int_equal(gpu_link_host_is(&link, gpu_clock_ns()), GPU_PEER_GONE);
	gpu_link_close(&link);
	struct gpu_link next = made(); // what it left behind is in nobody's way
	offer(&next);
	assert_int_equal(gpu_link_rank_is(&next, 2, gpu_clock_ns()), GPU_PEER_GONE);
	pid_t generator = child_with(hold_rank);
	assert_int_equal(gpu_link_rank_is(&next, 2, gpu_clock_ns()), GPU_PEER_HERE);
	assert_int_equal(gpu_link_rank_is(&next, 1, gpu_clock_ns()), GPU_PEER_GONE);
	kill(generator, SIGKILL);
	waitpid(generator, NULL, 0);
	assert_int_equal(gpu_link_rank_is(&next, 2, gpu_clock_ns()), GPU_PEER_GONE);
	gpu_link_close(&next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_ends_see_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(parts_do_not_overlap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_header_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shapes_that_do_not_fit_are_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_version_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_link_may_have_a_part_of_its_group, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(steps_are_measured_by_their_updates, set_up,
						tear_down),
		cmocka_unit_test(figures_that_cannot_be_are_named),
		cmocka_unit_test_setup_teardown(a_rank_has_one_generator, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nobody_waits_for_ever, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_start_is_no_damage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_there_before_is_damage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_is_no_link_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_killed_end_shows_at_once, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
