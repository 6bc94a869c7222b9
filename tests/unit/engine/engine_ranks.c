// SPDX-License-Identifier: Apache-2.0
// How many processes run one world is decided before any of it is built: a table of every number
// that somebody may start.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/engine/ranks.h>

#define FIT 16 // as docs and messages say
#define STARTED_MAX 40

static void what_does_not_fit_is_refused_with_what_does(void **)
{
	for (uint32_t count = 1; count <= STARTED_MAX; count++) {
		struct refusal refusal = {0};
		char should[128];
		int rc = ranks_fit(count, count, &refusal);
		assert_int_equal(rc, count <= FIT ? 0 : -EINVAL);
		snprintf(should, sizeof(should),
			 "%u processes were started; at most %d run one world", count, FIT);
		assert_string_equal(refusal.text, count <= FIT ? "" : should);
	}
}

// A program of one MPI under the launcher of another: each process believes to be alone.
static void a_launcher_that_says_another_number_is_refused(void **)
{
	for (uint32_t count = 1; count <= STARTED_MAX; count++) {
		struct refusal refusal = {0};
		assert_int_equal(ranks_fit(count, count + 1, &refusal), -ENODEV);
		assert_non_null(strstr(refusal.text, "another MPI"));
	}
}

static void share_nothing(struct ranks *ranks, const void *mine, void *all, size_t bytes)
{
	(void)ranks;
	(void)mine;
	(void)all;
	(void)bytes;
}

static bool has_shared(struct ranks *ranks)
{
	(void)ranks;
	return true;
}

// The exit status of a process that shares so much.
static int status_of_sharing(size_t bytes)
{
	static const struct ranks_ops ops = {.share = share_nothing, .has_all = has_shared};
	struct ranks ranks = {.ops = &ops, .count = 2};
	int status;
	fflush(NULL); // else the child writes it, too
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		fclose(stderr); // what it says is known
		ranks_share(&ranks, NULL, NULL, bytes);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void more_than_mpi_can_count_is_a_bug_and_not_a_wrap(void **)
{
	assert_int_equal(status_of_sharing(INT32_MAX), 0);
	assert_int_equal(status_of_sharing((size_t)INT32_MAX + 1), 70);
	assert_int_equal(status_of_sharing((size_t)UINT32_MAX + 9), 70);
}
