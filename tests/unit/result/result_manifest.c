// SPDX-License-Identifier: Apache-2.0
// Tests of the manifest of a result: what it lists, and that whatever is done to a folder behind
// the run's back is refused with the name of the file.

#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/result/report_manifest.h>

static char dir[256];

static const char *in_dir(const char *name)
{
	static char paths[2][512], which;
	which = !which;
	snprintf(paths[(int)which], sizeof(paths[0]), "%s/%s", dir, name);
	return paths[(int)which];
}

static void put(const char *name, const char *text)
{
	FILE *to = fopen(in_dir(name), "w");
	assert_non_null(to);
	fputs(text, to);
	assert_int_equal(fclose(to), 0);
}

static int make_dir(void **)
{
	const char *parent = getenv("TMPDIR");
	snprintf(dir, sizeof(dir), "%s/weft_manifest_XXXXXX", parent != NULL ? parent : P_tmpdir);
	return mkdtemp(dir) == NULL;
}

static int remove_dir(void **)
{
	DIR *open = opendir(dir);
	for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;)
		remove(in_dir(entry->d_name));
	closedir(open);
	return rmdir(dir);
}

// A folder as a run leaves it.
static void make_result(void)
{
	struct manifest_rows inputs = {0};
	struct refusal refusal = {0};
	put("result.json", "{}\n");
	put("flow.hdr", "flow\n");
	put("incast.hdr", "12345\n");
	put("series.csv", "a,b\n");
	manifest_take(&inputs, "here/a.yaml", "abc", 3);
	manifest_take(&inputs, "here/a.yaml", "abc", 3);
	assert_int_equal(manifest_write(dir, &inputs, "weft 0.1.0", &refusal), 0);
	manifest_rows_free(&inputs);
}

static int checked(struct refusal *refusal)
{
	struct manifest manifest;
	*refusal = (struct refusal){0};
	int rc = manifest_check(&manifest, dir, refusal);
	manifest_free(&manifest);
	return rc;
}

static void all_files_and_inputs_are_listed(void **)
{
	struct manifest manifest;
	struct refusal refusal = {0};
	make_result();
	put(".hidden", "x");
	assert_int_equal(manifest_check(&manifest, dir, &refusal), 0);
	assert_int_equal(manifest.files.count, 4);
	assert_string_equal(manifest.files.rows[0].name, "flow.hdr");
	assert_int_equal(manifest.files.rows[2].bytes, 3);
	assert_int_equal(manifest.inputs.count, 1);
	assert_string_equal(manifest.inputs.rows[0].name, "here/a.yaml");
	// FIPS 180-4, example of "abc"
	assert_string_equal(manifest.inputs.rows[0].digest,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(manifest_match(&manifest, dir, "flow.hdr", "flow\n", 5, &refusal), 0);
	assert_int_equal(manifest_match(&manifest, dir, "flow.hdr", "flaw\n", 5, &refusal),
			 -EINVAL);
	assert_int_equal(manifest_match(&manifest, dir, "x.hdr", "", 0, &refusal), -EINVAL);
	manifest_free(&manifest);
}

static void cut(void)
{
	assert_int_equal(truncate(in_dir("flow.hdr"), 3), 0);
}

static void empty(void)
{
	assert_int_equal(truncate(in_dir("flow.hdr"), 0), 0);
}

static void grow(void)
{
	put("flow.hdr", "flow\nflow\n");
}

static void change(void)
{
	put("flow.hdr", "flaw\n");
}

static void lose(void)
{
	assert_int_equal(unlink(in_dir("flow.hdr")), 0);
}

static void swap(void)
{
	assert_int_equal(rename(in_dir("flow.hdr"), in_dir("x")), 0);
	assert_int_equal(rename(in_dir("incast.hdr"), in_dir("flow.hdr")), 0);
	assert_int_equal(rename(in_dir("x"), in_dir("incast.hdr")), 0);
}

static void link_to(void) // the bytes are right
{
	assert_int_equal(rename(in_dir("flow.hdr"), in_dir("x")), 0);
	assert_int_equal(symlink("x", in_dir("flow.hdr")), 0);
}

static void pipe_there(void)
{
	lose();
	assert_int_equal(mkfifo(in_dir("flow.hdr"), 0666), 0);
}

static void folder_there(void)
{
	lose();
	assert_int_equal(mkdir(in_dir("flow.hdr"), 0777), 0);
}

static void add(void)
{
	put("order.hdr", "");
}

static void lose_manifest(void)
{
	assert_int_equal(unlink(in_dir(MANIFEST_NAME)), 0);
}

static void link_manifest(void)
{
	assert_int_equal(rename(in_dir(MANIFEST_NAME), in_dir("x")), 0);
	assert_int_equal(symlink("x", in_dir(MANIFEST_NAME)), 0);
}

static void what_is_spoilt_is_named(void **)
{
	static const struct {
		void (*spoil)(void);
		const char *file, *text;
	} rows[] = {
		{cut, "flow.hdr", "was cut: it has 3 bytes, the run wrote 5"},
		{empty, "flow.hdr", "was cut: it has 0 bytes"},
		{grow, "flow.hdr", "has grown"},
		{change, "flow.hdr", "was changed"},
		{lose, "flow.hdr", "not here"},
		{swap, "flow.hdr", "has the bytes of incast.hdr"},
		{link_to, "flow.hdr", "is a link"},
		{pipe_there, "flow.hdr", "is a link, a folder or a device"},
		{folder_there, "flow.hdr", "is a link, a folder or a device"},
		{add, "order.hdr", "is not in the manifest"},
		{lose_manifest, MANIFEST_NAME, "is missing"},
		{link_manifest, MANIFEST_NAME, "is a link"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct refusal refusal;
		make_result();
		assert_int_equal(checked(&refusal), 0);
		rows[i].spoil();
		assert_int_equal(checked(&refusal), -EINVAL);
		assert_string_equal(refusal.file, in_dir(rows[i].file));
		if (strstr(refusal.text, rows[i].text) == NULL)
			fail_msg("%s: %s", refusal.file, refusal.text);
		assert_int_equal(remove_dir(NULL), 0);
		assert_int_equal(mkdir(dir, 0777), 0);
	}
}

static void files_of_others_are_left_alone(void **)
{
	struct refusal refusal;
	make_result();
	put("report.html", "made of it later");
	put("notes.txt", "");
	assert_int_equal(checked(&refusal), 0);
}

#define SUM "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define HEAD "{\"kind\": \"manifest\", \"schema\": 1, \"weft\": \"weft 1\", \"files\": ["
#define TAIL "], \"inputs\": []}"
#define ROW(name) "{\"name\": \"" name "\", \"bytes\": 3, \"sha256\": \"" SUM "\"}"

static void what_is_no_manifest_is_refused(void **)
{
	static const char *const good[] = {HEAD TAIL, HEAD ROW("a") TAIL,
					   HEAD ROW("a") "," ROW("b") TAIL};
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"kind\": \"manifest\", \"schema\": 2, \"weft\": \"weft 1\", \"files\": [" TAIL,
		"{\"kind\": \"manifest\", \"schema\": 4294967297, \"weft\": \"weft 1\", "
		"\"files\": [" TAIL,
		"{\"kind\": \"book\", \"schema\": 1, \"weft\": \"weft 1\", \"files\": [" TAIL,
		HEAD TAIL "x",
		HEAD "3" TAIL,
		HEAD "{\"name\": \"a\", \"bytes\": 3}" TAIL,
		HEAD "{\"name\": \"a\", \"bytes\": -3, \"sha256\": \"" SUM "\"}" TAIL,
		HEAD "{\"name\": \"a\", \"bytes\": 3.0, \"sha256\": \"" SUM "\"}" TAIL,
		HEAD "{\"name\": \"a\", \"bytes\": 3, \"sha256\": \"" SUM "0\"}" TAIL,
		HEAD "{\"name\": \"a\", \"bytes\": 3, \"sha256\": \"\"}" TAIL,
		HEAD "{\"name\": \"a\", \"name\": \"a\", \"bytes\": 3, \"sha256\": \"" SUM
		     "\"}" TAIL,
		HEAD ROW("") TAIL,
		HEAD ROW("..") TAIL,
		HEAD ROW("../a") TAIL,
		HEAD ROW("/etc/passwd") TAIL,
		HEAD ROW("manifest.json") TAIL,
		HEAD ROW("a") "," ROW("a") TAIL,
		HEAD ROW("b") "," ROW("a") TAIL,
		"{\"kind\": \"manifest\", \"schema\": 1, \"weft\": \"weft 1\", \"files\": []}",
		HEAD "], \"inputs\": [], \"more\": 1}",
	};
	struct manifest manifest;
	struct refusal refusal;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(manifest_parse(&manifest, "m", good[i], strlen(good[i]), &refusal),
				 0);
		assert_int_equal(manifest.files.count, i);
		manifest_free(&manifest);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		refusal = (struct refusal){0};
		assert_int_equal(manifest_parse(&manifest, "m", bad[i], strlen(bad[i]), &refusal),
				 -EINVAL);
		assert_string_equal(refusal.file, "m");
		assert_true(refusal.text[0] != '\0');
		manifest_free(&manifest);
	}
}

static void what_cannot_be_written_leaves_nothing(void **)
{
	struct manifest_rows lacking = {.has_no_memory = true};
	struct refusal refusal;
	assert_int_equal(manifest_write(dir, &lacking, "weft 1", &refusal), -ENOMEM);
	assert_int_not_equal(access(in_dir(MANIFEST_NAME), F_OK), 0);
	assert_int_equal(manifest_write("/no/such/folder", NULL, "weft 1", &refusal), -ENOENT);
	assert_string_equal(refusal.file, "/no/such/folder/manifest.json");
}

static void a_path_that_is_longer_than_any_is_refused(void **)
{
	char path[9000];
	for (size_t length = 4000; length < sizeof(path); length += 83) {
		struct manifest manifest;
		struct refusal refusal = {0};
		memset(path, 'a', length);
		path[length] = '\0';
		assert_int_equal(manifest_check(&manifest, path, &refusal), -EINVAL);
		assert_int_equal(strncmp(refusal.file, "...aaaa", 7), 0);
		assert_string_equal(refusal.text, strerror(ENAMETOOLONG));
		manifest_free(&manifest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_files_and_inputs_are_listed, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(what_is_spoilt_is_named, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(files_of_others_are_left_alone, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(what_cannot_be_written_leaves_nothing, make_dir,
						remove_dir),
		cmocka_unit_test(what_is_no_manifest_is_refused),
		cmocka_unit_test(a_path_that_is_longer_than_any_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
