// SPDX-License-Identifier: Apache-2.0
// Where the folder of a result lies, and what a refused one leaves of the folders on the way to it.

#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/files/staging.h>

static char folder[] = "staging-XXXXXX";
static struct staging staging;
static struct refusal refusal;

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void refused(const char *path, int code)
{
	refusal = (struct refusal){0};
	assert_int_equal(staging_begin(&staging, path, NULL, &refusal), code);
	assert_true(refusal.text[0] != '\0' && strlen(refusal.file) > 0);
}

static const char *name_of_300(void)
{
	static char name[301];
	memset(name, 'n', sizeof(name) - 1);
	return name;
}

static int set_up(void **)
{
	strcpy(folder, "staging-XXXXXX");
	return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int tear_down(void **)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return chdir("..") != 0 || system(command) != 0;
}

// A name that no disk takes, at the end or on the way.
static void a_refused_folder_leaves_none_on_the_way(void **)
{
	char path[1024];
	const char *name = name_of_300();
	snprintf(path, sizeof(path), "a/b/%s", name);
	refused(path, -ENAMETOOLONG);
	assert_false(is_there("a"));
	snprintf(path, sizeof(path), "a/b/%s/c", name);
	refused(path, -ENAMETOOLONG);
	assert_false(is_there("a"));
	snprintf(path, sizeof(path), "./a//b/%s/.", name);
	refused(path, -ENAMETOOLONG);
	assert_false(is_there("a"));
}

static void folders_that_were_there_stay(void **)
{
	char path[1024];
	const char *name = name_of_300();
	assert_int_equal(mkdir("old", 0777) | mkdir("old/empty", 0777), 0);
	snprintf(path, sizeof(path), "new/../old/empty/%s", name);
	refused(path, -ENAMETOOLONG);
	assert_true(is_there("old/empty"));
	assert_false(is_there("new"));
}

// Told before anything runs, and not when all is done.
static void files_have_room_behind_their_folder(void **)
{
	char path[4096] = "";
	assert_non_null(getcwd(path, sizeof(path)));
	size_t length = strlen(path);
	while (length < 4000)
		length += (size_t)snprintf(path + length, sizeof(path) - length, "/%.*s",
					   length < 3780 ? 200 : 4000 - (int)length, name_of_300());
	refused(path, -ENAMETOOLONG);
	assert_string_equal(refusal.text, strerror(ENAMETOOLONG));
	*strrchr(path, '/') = '\0';
	assert_int_equal(staging_begin(&staging, path, NULL, &refusal), 0);
	staging_abandon(&staging);
}

static void an_abandoned_result_leaves_nothing(void **)
{
	assert_int_equal(staging_begin(&staging, "a/b/result/", NULL, &refusal), 0);
	assert_true(is_there("a/b/.result.weft-part"));
	staging_abandon(&staging);
	assert_false(is_there("a"));
}

static void a_result_without_a_place_is_not_cleared(void **)
{
	char kept[64];
	snprintf(kept, sizeof(kept), ".result.weft-part.%ld", (long)getpid());
	assert_int_equal(staging_begin(&staging, "result", NULL, &refusal), 0);
	assert_int_equal(mkdir("result", 0777) | mkdir("result/of others", 0777), 0);
	assert_int_equal(staging_end(&staging, &refusal), -EIO);
	assert_non_null(strstr(refusal.text, kept));
	assert_int_equal(rmdir("result/of others"), 0);
	assert_int_equal(staging_begin(&staging, "result", NULL, &refusal), 0);
	assert_int_equal(staging_end(&staging, &refusal), 0);
	assert_true(is_there("result") && is_there(kept));
}

// As the system takes it: `..` behind a link is above where the link leads.
static void a_link_on_the_way_is_followed_first(void **)
{
	char real[4096], should[4200];
	assert_int_equal(mkdir("deep", 0777) | mkdir("deep/er", 0777), 0);
	assert_int_equal(symlink("deep/er", "link"), 0);
	assert_non_null(realpath("deep", real));
	snprintf(should, sizeof(should), "%s/result", real);
	assert_int_equal(staging_begin(&staging, "link/../result", NULL, &refusal), 0);
	assert_string_equal(staging.path, should);
	assert_int_equal(staging_end(&staging, &refusal), 0);
	assert_true(is_there("link/../result"));
	assert_true(is_there("deep/result"));
	assert_false(is_there("result"));
}

static void the_end_of_a_path_may_have_slashes_and_dots(void **)
{
	static const char *const ends[] = {"", "/", "/.", "//./"};
	char real[4096], should[4200], path[64];
	assert_non_null(realpath(".", real));
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(path, sizeof(path), "r%zu%s", i, ends[i]);
		snprintf(should, sizeof(should), "%s/r%zu", real, i);
		assert_int_equal(staging_begin(&staging, path, NULL, &refusal), 0);
		assert_string_equal(staging.path, should);
		assert_int_equal(staging_end(&staging, &refusal), 0);
		assert_true(is_there(should));
	}
}
