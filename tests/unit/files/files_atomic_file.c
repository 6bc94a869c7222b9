// SPDX-License-Identifier: Apache-2.0
// A file is whole in its place or not there; what was there stays until then.

#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/files/files.h>

static char folder[] = "draft-XXXXXX";
static struct atomic_file atomic_file;
static struct refusal refusal;

static const char *path_of(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static unsigned files_there(void)
{
	unsigned count = 0;
	DIR *dir = opendir(folder);
	for (struct dirent *each; (each = readdir(dir)) != NULL;)
		count += strcmp(each->d_name, ".") != 0 && strcmp(each->d_name, "..") != 0;
	closedir(dir);
	return count;
}

static void assert_holds(const char *path, const char *text)
{
	char *there;
	size_t bytes;
	assert_int_equal(file_read_back(path, 100, &there, &bytes, &refusal), 0);
	assert_string_equal(there, text);
	free(there);
}

static void put(const char *path, const char *text, int rc, int end)
{
	refusal = (struct refusal){0};
	assert_int_equal(atomic_file_begin(&atomic_file, path, &refusal), 0);
	fputs(text, atomic_file.to);
	assert_int_equal(atomic_file_end(&atomic_file, rc, &refusal), end);
}

static void what_is_there_stays_without_force(void **state)
{
	const char *path = path_of("a");
	put(path, "first", 0, 0);
	assert_int_equal(atomic_file_begin(&atomic_file, path, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "--force"));
	unlink(path);
	assert_int_equal(atomic_file_begin(&atomic_file, path, &refusal), 0);
	fputs("second", atomic_file.to);
	FILE *meanwhile = fopen(path, "w");
	fputs("of another", meanwhile);
	fclose(meanwhile);
	assert_int_equal(atomic_file_end(&atomic_file, 0, &refusal), -EIO);
	assert_non_null(strstr(refusal.text, strerror(EEXIST)));
	assert_holds(path, "of another");
	assert_int_equal(files_there(), 1);
	assert_int_equal(atomic_file_renew(&atomic_file, path, &refusal), 0); // one of its own
	fputs("third", atomic_file.to);
	assert_int_equal(atomic_file_end(&atomic_file, 0, &refusal), 0);
	assert_holds(path, "third");
	unlink(path);
	files_force();
}

static void an_input_is_never_written(void **state)
{
	char *text, path[256], other[256];
	size_t bytes;
	snprintf(path, sizeof(path), "%s", path_of("a"));
	snprintf(other, sizeof(other), "%s", path_of("other"));
	put(path, "first", 0, 0);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(file_read_back(path, 100, &text, &bytes, &refusal), 0);
	free(text);
	assert_int_equal(files_check_output(other, &refusal), 0);
	assert_int_equal(file_read(path, 100, &text, &bytes, &refusal), 0);
	free(text);
	assert_int_equal(files_check_output(other, &refusal), -EINVAL);
	assert_int_equal(atomic_file_begin(&atomic_file, path, &refusal), -EINVAL);
	assert_int_equal(atomic_file_renew(&atomic_file, other, &refusal), -EINVAL);
	assert_string_equal(refusal.file, other);
	assert_holds(path, "first");
	unlink(other);
	unlink(path);
}

static void an_output_is_no_input_before_it_ends(void **state)
{
	char *text;
	size_t bytes;
	const char *path = path_of("b");
	FILE *file = fopen(path, "w");
	assert_int_equal(files_note_output(fileno(file)), 0);
	assert_int_equal(file_read(path, 100, &text, &bytes, &refusal), -EBUSY);
	assert_int_equal(files_check_output(path, &refusal), -EINVAL);
	files_end_output(fileno(file));
	fclose(file);
	assert_int_equal(files_check_output(path, &refusal), 0);
	assert_int_equal(file_read(path, 100, &text, &bytes, &refusal), 0);
	free(text);
	file = fopen(path, "a"); // nor an input an output
	assert_int_equal(files_note_output(fileno(file)), EBUSY);
	fclose(file);
	unlink(path);
}

static void a_draft_takes_its_place_at_the_end(void **state)
{
	const char *path = path_of("a");
	put(path, "first", 0, 0);
	assert_int_equal(atomic_file_begin(&atomic_file, path, &refusal), 0);
	fputs("second", atomic_file.to);
	fflush(atomic_file.to);
	assert_holds(path, "first");
	assert_int_equal(atomic_file_end(&atomic_file, 0, &refusal), 0);
	assert_holds(path, "second");
	assert_int_equal(files_there(), 1);
}

static void what_went_wrong_leaves_what_was_there(void **state)
{
	const char *path = path_of("a");
	put(path, "first", 0, 0);
	put(path, "second", -ENOMEM, -EIO);
	assert_string_equal(refusal.file, path);
	assert_non_null(strstr(refusal.text, strerror(ENOMEM)));
	assert_holds(path, "first");
	assert_int_equal(files_there(), 1);
}

static void a_disk_that_fills_up_leaves_what_was_there(void **state)
{
	struct rlimit old, small;
	const char *path = path_of("a");
	put(path, "first", 0, 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){.rlim_cur = 4, .rlim_max = old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	put(path, "more than four bytes", 0, -EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_non_null(strstr(refusal.text, strerror(EFBIG)));
	assert_holds(path, "first");
	assert_int_equal(files_there(), 1);
}

static void a_link_stays_and_its_file_changes(void **state)
{
	char link[256];
	snprintf(link, sizeof(link), "%s", path_of("link"));
	put(path_of("a"), "first", 0, 0);
	assert_int_equal(symlink("a", link), 0);
	put(link, "second", 0, 0);
	struct stat there;
	assert_int_equal(lstat(link, &there), 0);
	assert_true(S_ISLNK(there.st_mode));
	assert_holds(path_of("a"), "second");
	unlink(link);
}

// Who may write in the folder, too, can know the name that a draft has until its end.
static void a_link_in_the_way_of_a_draft_is_not_followed(void **)
{
	char name[64], own[256], other[256];
	snprintf(own, sizeof(own), "%s", path_of("own"));
	snprintf(other, sizeof(other), "%s", path_of("other"));
	put(other, "other", 0, 0);
	snprintf(name, sizeof(name), ".own.%ld", (long)getpid());
	assert_int_equal(symlink("other", path_of(name)), 0);
	put(own, "new", 0, 0);
	assert_holds(own, "new");
	assert_holds(other, "other");
	assert_int_not_equal(access(path_of(name), F_OK), 0);
	assert_int_equal(unlink(own) | unlink(other), 0);
}

static void a_device_is_written_as_it_is(void **state)
{
	put("/dev/null", "gone", 0, 0);
	put("/dev/full", "no room", 0, -EIO);
	assert_string_equal(refusal.file, "/dev/full");
	assert_non_null(strstr(refusal.text, strerror(ENOSPC)));
	struct stat there;
	assert_int_equal(stat("/dev/full", &there), 0);
	assert_true(S_ISCHR(there.st_mode));
}

static void a_wrong_path_is_refused(void **state)
{
	assert_int_equal(atomic_file_begin(&atomic_file, folder, &refusal), -EISDIR);
	assert_string_equal(refusal.file, folder);
	assert_int_equal(atomic_file_begin(&atomic_file, path_of("none/a"), &refusal), -ENOENT);
	assert_string_equal(refusal.file, path_of("none/a"));
	static char long_path[ATOMIC_FILE_PATH_BYTES + 100];
	memset(long_path, 'a', sizeof(long_path) - 1);
	assert_int_equal(atomic_file_begin(&atomic_file, long_path, &refusal), -EIO);
	assert_non_null(strstr(refusal.text, strerror(ENAMETOOLONG)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_stays_without_force), // from here on it is given
		cmocka_unit_test(an_input_is_never_written),
		cmocka_unit_test(an_output_is_no_input_before_it_ends),
		cmocka_unit_test(a_draft_takes_its_place_at_the_end),
		cmocka_unit_test(what_went_wrong_leaves_what_was_there),
		cmocka_unit_test(a_disk_that_fills_up_leaves_what_was_there),
		cmocka_unit_test(a_link_stays_and_its_file_changes),
		cmocka_unit_test(a_link_in_the_way_of_a_draft_is_not_followed),
		cmocka_unit_test(a_device_is_written_as_it_is),
		cmocka_unit_test(a_wrong_path_is_refused),
	};
	if (mkdtemp(folder) == NULL)
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path_of("a"));
	rmdir(folder);
	return failed;
}
