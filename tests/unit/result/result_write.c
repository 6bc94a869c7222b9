// SPDX-License-Identifier: Apache-2.0
// Tests of the files of a result: what is there, what is in the histograms, and that a refusal
// leaves a folder as it was.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hdr.h"
#include "result_events.h"

static char dir[256];

static int make_dir(void **)
{
	const char *parent = getenv("TMPDIR");
	snprintf(dir, sizeof(dir), "%s/weft_report_XXXXXX", parent != NULL ? parent : P_tmpdir);
	return mkdtemp(dir) == NULL;
}

static const char *in_dir(const char *name)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

// Entries of the folder; removes them too when asked.
static int entries(bool is_removing)
{
	int count = 0;
	DIR *open = opendir(dir);
	assert_non_null(open);
	for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count++;
		if (is_removing)
			remove(in_dir(entry->d_name));
	}
	closedir(open);
	return count;
}

static int remove_dir(void **)
{
	entries(true);
	return rmdir(dir);
}

static bool is_there(const char *name)
{
	return access(in_dir(name), F_OK) == 0;
}

static void result_and_histograms_are_written(void **)
{
	struct fake *fake = fake_ring();
	struct refusal refusal = {0};
	fake->input.out_dir = dir;
	assert_int_equal(report_write(&fake->input, &refusal), 0);
	assert_int_equal(entries(false), 4); // and no temporary file
	assert_true(is_there("message_same_t0.hdr") && is_there("message_across_t1.hdr"));
	json_error_t error;
	json_t *root = json_load_file(in_dir("result.json"), 0, &error);
	assert_non_null(root);
	assert_int_equal(json_integer_value(json_object_get(root, "schema")), 2);
	json_decref(root);
	struct stat status;
	mode_t mask = umask(0);
	umask(mask);
	assert_int_equal(stat(in_dir("result.json"), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0666 & ~mask);
	fake_free(fake);
}

static void a_second_run_replaces_all_files_of_the_first(void **)
{
	struct refusal refusal = {0};
	struct fake *fake = fake_ring();
	fake->input.out_dir = dir;
	assert_int_equal(report_write(&fake->input, &refusal), 0);
	fake_free(fake);
	fake = fake_flows();
	fake->input.out_dir = dir;
	assert_int_equal(report_write(&fake->input, &refusal), 0);
	assert_true(is_there("message_same_rack.hdr") && is_there("flow.hdr"));
	assert_false(is_there("message_same_t0.hdr")); // of the first run: it would mislead
	assert_int_equal(entries(false), 5);
	fake_free(fake);
}

static void flows_have_their_exact_times(void **)
{
	struct refusal refusal = {0};
	char text[512];
	struct fake *fake = fake_flows();
	fake->input.out_dir = dir;
	fake->flow_end_ps[0] = 2 * PS_PER_MS + 123456789;
	fake->flow_end_ps[1] = PS_PER_MS + 1;
	fake->flow_end_ps[2] = fake->flow_end_ps[3] = 0;
	fake->flows[3].start_ps = PS_NEVER; // it waits
	assert_int_equal(report_write(&fake->input, &refusal), 0);
	FILE *file = fopen(in_dir("flows.csv"), "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text,
			    "flow,from,to,bytes,start_ps,end_ps,fct_ps\n"
			    "0,0,8,1000000,2000000000,2123456789,123456789\n"
			    "1,1,8,1000000,1000000000,1000000001,1\n"
			    "2,2,8,1000000,1000000000,,\n"
			    "3,0,9,1000000,,,\n");
	fake_free(fake);
}

static void lateness_and_gaps_have_files_while_there_are_values(void **)
{
	struct refusal refusal = {0};
	struct fake *fake = fake_emulated();
	fake->input.out_dir = dir;
	assert_int_equal(report_write(&fake->input, &refusal), 0);
	assert_true(is_there("lateness_ns.hdr") && is_there("gap_ns.hdr"));
	assert_int_equal(entries(false), 6);
	struct hist none;
	check(hist_init(&none, &fake->arena, 2, 1000) == 0);
	fake->input.pace.lateness_ns = &none; // nothing waited
	assert_int_equal(report_write(&fake->input, &refusal), 0);
	assert_true(!is_there("lateness_ns.hdr") && is_there("gap_ns.hdr"));
	fake->input.pace = (struct report_pace){0}; // no clock at all
	assert_int_equal(report_write(&fake->input, &refusal), 0);
	assert_int_equal(entries(false), 4);
	fake_free(fake);
}

static void a_series_has_a_line_for_each_bin_up_to_the_last_one_in_use(void **)
{
	struct refusal refusal = {0};
	char text[512];
	struct fake *fake = fake_flows();
	fake->input.out_dir = dir;
	fake_series(fake, 9);
	series_add(&fake->outcome.series, SERIES_PLACED, 0, 5000);
	series_add(&fake->outcome.series, SERIES_ARRIVED, 0, 3);
	series_add(&fake->outcome.series, SERIES_LOST, 2 * PS_PER_US, 1);
	assert_int_equal(report_write(&fake->input, &refusal), 0);
	FILE *file = fopen(in_dir("series.csv"), "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text,
			    "from_ps,until_ps,payload_bytes,data_packets,lost_packets,"
			    "goodput_per_nic_bps\n"
			    "0,1000000,5000,3,0,20000000000\n" // to two NICs
			    "1000000,2000000,0,0,0,0\n"
			    "2000000,3000000,0,0,1,0\n");
	json_error_t error;
	json_t *root = json_load_file(in_dir("result.json"), 0, &error);
	json_t *series = json_object_get(root, "series");
	assert_int_equal(json_integer_value(json_object_get(series, "bins")), 3);
	assert_int_equal(json_array_size(json_object_get(series, "lost_packets")), 3);
	json_decref(root);
	fake->outcome.series = (struct series){0}; // a run without one takes it away
	assert_int_equal(report_write(&fake->input, &refusal), 0);
	assert_false(is_there("series.csv"));
	fake_free(fake);
}

static void a_folder_that_is_not_there_is_refused(void **)
{
	struct fake *fake = fake_ring();
	struct refusal refusal = {0};
	char path[512];
	snprintf(path, sizeof(path), "%s/missing", dir);
	fake->input.out_dir = path;
	assert_int_equal(report_write(&fake->input, &refusal), -ENOENT);
	assert_string_equal(refusal.file, path);
	assert_non_null(strstr(refusal.text, "No such file or directory"));
	assert_int_equal(entries(false), 0);
	fake_free(fake);
}

static void a_file_in_place_of_the_folder_is_refused(void **)
{
	struct fake *fake = fake_ring();
	struct refusal refusal = {0};
	fake->input.out_dir = "/dev/null";
	assert_int_equal(report_write(&fake->input, &refusal), -ENOTDIR);
	fake_free(fake);
}

// Nothing is forbidden to root, so root becomes somebody else for a moment.
static void a_folder_that_cannot_be_written_is_refused(void **)
{
	uid_t self = geteuid();
	if (self == 0 && seteuid(65534) != 0) {
		print_message("skipped: root may not become somebody else here\n");
		skip();
	}
	struct fake *fake = fake_ring();
	struct refusal refusal = {0};
	fake->input.out_dir = self == 0 ? dir : "/";
	int code = report_write(&fake->input, &refusal);
	assert_int_equal(seteuid(self), 0);
	assert_int_equal(code, -EACCES);
	assert_non_null(strstr(refusal.text, "Permission denied"));
	assert_int_equal(entries(false), 0);
	fake_free(fake);
}

static void a_refusal_leaves_no_temporary_file(void **)
{
	struct fake *fake = fake_ring();
	struct refusal refusal = {0};
	fake->input.out_dir = dir;
	assert_int_equal(mkdir(in_dir("result.json"), 0755), 0); // cannot be renamed over
	assert_true(report_write(&fake->input, &refusal) < 0);
	assert_int_equal(entries(false), 1);
	fake_free(fake);
}

static void a_name_too_long_is_refused(void **)
{
	struct fake *fake = fake_ring();
	struct refusal refusal = {0};
	char path[2000];
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	fake->input.out_dir = path;
	assert_int_equal(report_write(&fake->input, &refusal), -ENAMETOOLONG);
	assert_int_equal(strlen(refusal.file), sizeof(refusal.file) - 1);
	fake_free(fake);
}

// ---------------------------------------------------------------- histograms

struct hdr_read {
	int rows;
	double value, level;	  // of the last row
	unsigned long long count; // of the last row
	bool has_max, is_partial, is_cut;
};

// Reads a histogram as a plotter does: rows of numbers, '#' is a comment. Each row is compared with
// the histogram.
static struct hdr_read hdr_read(const struct fake *fake, uint32_t index)
{
	const struct hist *hist = hdr_hist(&fake->input, index);
	struct hdr_read read = {.level = -1};
	char line[256];
	FILE *file = tmpfile();
	assert_non_null(file);
	hdr_write(file, &fake->input, index);
	rewind(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "       Value     Percentile TotalCount 1/(1-Percentile)\n");
	while (fgets(line, sizeof(line), file) != NULL) {
		double value, level;
		unsigned long long count;
		read.has_max |= strstr(line, "#[Max") != NULL;
		read.is_partial |= strstr(line, "PARTIAL RESULT") != NULL;
		read.is_cut |= strstr(line, "not valid in this sample") != NULL;
		if (line[0] == '#' || sscanf(line, "%lf %lf %llu", &value, &level, &count) != 3)
			continue;
		assert_true(level > read.level && value >= read.value && count >= read.count);
		double parts = level * 1e6;
		if (fabs(parts - round(parts)) < 1e-9)
			assert_int_equal(
				llround(value *
					(index == HDR_LATENESS || index == HDR_GAP ? 1 : 1000)),
				hist_quantile(hist, (uint32_t)round(parts)));
		read = (struct hdr_read){read.rows + 1, value,		 level,	     count,
					 read.has_max,	read.is_partial, read.is_cut};
	}
	fclose(file);
	return read;
}

static void a_histogram_file_ends_at_the_maximum(void **)
{
	struct fake *fake = fake_ring();
	struct hdr_read read = hdr_read(fake, PAIR_ACROSS_T1);
	assert_true(read.rows > 50);
	assert_true(read.level == 1 && read.value == 31.999);
	assert_int_equal(read.count, 20000);
	assert_true(read.has_max && !read.is_partial && !read.is_cut);
	fake_free(fake);
}

static void a_histogram_file_of_a_sample_ends_before_its_tail(void **)
{
	struct fake *fake = fake_sample();
	struct hdr_read read = hdr_read(fake, PAIR_ACROSS_T1);
	assert_true(read.level > 0.95 && read.level <= 0.99);
	assert_true(read.value < 31.9);
	assert_true(!read.has_max && read.is_cut);
	read = hdr_read(fake, PAIR_SAME_T0); // 200 messages: the median and no more
	assert_true(read.level == 0.5);
	fake_free(fake);
}

static void a_histogram_file_of_a_partial_run_says_so(void **)
{
	struct fake *fake = fake_flows();
	struct hdr_read read = hdr_read(fake, PAIR_CLASS_COUNT);
	assert_true(read.is_partial);
	assert_true(read.level == 1 && read.value == 800);
	read = hdr_read(fake, PAIR_SAME_RACK); // one value lies above the range
	assert_true(read.value == 1500000);
	fake_free(fake);
}

static void a_histogram_of_the_clock_is_whole_and_in_nanoseconds(void **)
{
	struct fake *fake = fake_emulated();
	fake->world.plan.sample.is_on = true;
	struct hdr_read read = hdr_read(fake, HDR_LATENESS);
	assert_true(read.level == 1 && read.value == 5600000);
	assert_int_equal(read.count, 1000000);
	assert_true(read.has_max && !read.is_cut);
	read = hdr_read(fake, HDR_GAP);
	assert_true(read.value == 7800000);
	fake_free(fake);
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(result_and_histograms_are_written),
		in_folder(a_second_run_replaces_all_files_of_the_first),
		in_folder(flows_have_their_exact_times),
		in_folder(lateness_and_gaps_have_files_while_there_are_values),
		in_folder(a_series_has_a_line_for_each_bin_up_to_the_last_one_in_use),
		in_folder(a_folder_that_is_not_there_is_refused),
		in_folder(a_file_in_place_of_the_folder_is_refused),
		in_folder(a_folder_that_cannot_be_written_is_refused),
		in_folder(a_refusal_leaves_no_temporary_file),
		in_folder(a_name_too_long_is_refused),
		cmocka_unit_test(a_histogram_file_ends_at_the_maximum),
		cmocka_unit_test(a_histogram_file_of_a_sample_ends_before_its_tail),
		cmocka_unit_test(a_histogram_file_of_a_partial_run_says_so),
		cmocka_unit_test(a_histogram_of_the_clock_is_whole_and_in_nanoseconds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
