// SPDX-License-Identifier: Apache-2.0
// Files of taps that cannot be opened, or not be written to their end.

#include <sys/stat.h>

#include "ports_tap_reader.h"

static bool is_there(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0;
}

static void refused(const char *pcap, const char *log, int code, const char *file)
{
	const struct tap_options options = {.pcap = pcap, .log = log};
	struct refusal refusal = {0};
	struct tap_set *set = NULL;
	assert_int_equal(tap_open(&set, &world, &options, &codec, 1, &refusal), code);
	assert_null(set);
	assert_string_equal(refusal.file, file);
	assert_true(strlen(refusal.text) > 10);
}

static void files_that_cannot_be_written_are_refused(void **state)
{
	build_world("");
	unlink(path_of("a"));
	refused(folder, NULL, -EISDIR, folder);
	refused(path_of("none/a"), NULL, -ENOENT, path_of("none/a"));
	refused(NULL, NULL, -EINVAL, "");
	refused(path_of("a"), path_of("none/a"), -ENOENT, path_of("none/a"));
	assert_false(is_there(path_of("a")));
	refused(path_of("a"), path_of("a"), -EINVAL, path_of("a"));
	assert_false(is_there(path_of("a")));
	FILE *file = fopen(path_of("a"), "w");
	fputs("of an earlier run", file);
	fclose(file);
	refused(path_of("a"), NULL, -EINVAL, path_of("a"));
	files_force();
	refused(path_of("a"), folder, -EISDIR, folder);
	assert_int_equal(file_of(path_of("a"), file_a), 17); // it was not touched
	struct tap_set *set = open_taps(path_of("a"), NULL, 1);
	close_taps(set, 0);
	read_capture(path_of("a")); // and now nothing else is in it
}

static void taps_beyond_the_memory_leave_no_file(void **state)
{
	build_world("");
	unlink(path_of("a"));
	arena.size = arena.used + 4096;
	refused(path_of("a"), NULL, -ENOMEM, "");
	assert_false(is_there(path_of("a")));
}

static void a_full_disk_is_told_at_the_end(void **state)
{
	for (int i = 0; i < 2; i++) {
		build_world("");
		struct tap_set *set = open_taps(i == 0 ? "/dev/full" : path_of("a"),
						i == 0 ? path_of("a") : "/dev/full", 1);
		ps_t now = take_random(set, 1, false, 9);
		struct refusal refusal = {0};
		struct tap_counts counts = {0};
		assert_int_equal(tap_close(set, now, &counts, &refusal), -EIO);
		assert_string_equal(refusal.file, "/dev/full");
		assert_non_null(strstr(refusal.text, strerror(ENOSPC)));
		assert_int_equal(counts.bytes, file_of(path_of("a"), file_a)); // the other is whole
		assert_true(counts.bytes > 10000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_cannot_be_written_are_refused),
		cmocka_unit_test(taps_beyond_the_memory_leave_no_file),
		cmocka_unit_test(a_full_disk_is_told_at_the_end),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
