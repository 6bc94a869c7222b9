// SPDX-License-Identifier: Apache-2.0
// The reader of command lines: values of each kind, what is refused and how, what goes with what.

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/run/command_line.h>

struct got {
	bool is_json, is_csv, has_seed, wants_list, probes;
	const char *out, *mode, *sets[2];
	uint32_t set_count, jobs;
	int over;
	uint64_t seed, bytes;
	double ratio, outage_s;
	int64_t ramp_ns;
	int taken;
};

static int take_twice(void *to, const char *word, struct refusal *refusal)
{
	(void)refusal;
	((struct got *)to)->taken += word[0];
	return 0;
}

#define AT(field, of) .at = OPTION_AT(struct got, field, of)
#define COUNT(field) .at = offsetof(struct got, field), .bytes = OPTION_BYTES(struct got, field)

static const struct option_row rows[] = {
	{.name = "json", .kind = OPTION_FLAG, AT(is_json, bool), .excludes = "csv|mode=quiet"},
	{.name = "csv", .kind = OPTION_FLAG, AT(is_csv, bool)},
	{.name = "out", .value = "DIR", .letter = 'o', .kind = OPTION_TEXT, AT(out, const char *)},
	{.name = "mode",
	 .value = "M",
	 .kind = OPTION_TEXT,
	 AT(mode, const char *),
	 .words = "quiet|loud|none"},
	{.name = "over", .value = "M", .kind = OPTION_INDEX, COUNT(over), .words = "a|b", .min = 1},
	{.name = "jobs",
	 .value = "N",
	 .kind = OPTION_COUNT,
	 COUNT(jobs),
	 .min = 1,
	 .max = 64,
	 .needs = "out|mode=loud;seed"},
	{.name = "seed",
	 .value = "N",
	 .kind = OPTION_COUNT,
	 COUNT(seed),
	 .max = UINT64_MAX,
	 .has_flag = true,
	 .flag = OPTION_AT(struct got, has_seed, bool)},
	{.name = "bytes",
	 .value = "N",
	 .kind = OPTION_SIZE,
	 COUNT(bytes),
	 .min = 1,
	 .max = 1 << 20},
	{.name = "ratio",
	 .value = "R",
	 .kind = OPTION_REAL,
	 AT(ratio, double),
	 .low = 1,
	 .high = 2},
	{.name = "ramp", .value = "T", .kind = OPTION_TIME_NS, AT(ramp_ns, int64_t)},
	{.name = "outage", .value = "T", .kind = OPTION_TIME_S, AT(outage_s, double)},
	{.name = "set",
	 .value = "K",
	 .kind = OPTION_LIST,
	 AT(sets[0], const char *),
	 .max = 2,
	 .second = offsetof(struct got, set_count),
	 .is_many = true},
	{.name = "take", .value = "W", .kind = OPTION_TAKE, .take = take_twice, .is_many = true},
	{.name = "", .letter = 't', .value = "N", .kind = OPTION_NONE, .words = "no threads"},
	{.name = "probe", .kind = OPTION_FLAG, AT(probes, bool), .is_sole = true},
	{.name = "list", .kind = OPTION_FLAG, AT(wants_list, bool), .is_alone = true},
	{NULL},
};
static const struct command_line line = {
	.help = "help\n", .rows = rows, .noun = "scenario", .least = 1, .most = 2};

#define WORDS_MAX 12

static int take(struct got *got, const char *words, struct refusal *refusal)
{
	static char text[256];
	char *argv[WORDS_MAX + 2] = {"weft"}, *rest = NULL;
	int argc = 1;
	snprintf(text, sizeof(text), "%s", words);
	for (char *word = strtok_r(text, " ", &rest); word != NULL && argc < WORDS_MAX;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	*got = (struct got){0};
	*refusal = (struct refusal){0};
	return command_line_read(&line, got, argc, argv, refusal);
}

static void values_are_stored_by_their_kind(void **)
{
	struct got got;
	struct refusal refusal;
	assert_int_equal(take(&got, "a --json -o x --mode=loud --over b b", &refusal), 0);
	assert_true(got.is_json && !got.has_seed);
	assert_string_equal(got.out, "x");
	assert_string_equal(got.mode, "loud");
	assert_int_equal(got.over, 2);
	assert_int_equal(
		take(&got, "a --jobs 64 --mode loud --seed 18446744073709551615", &refusal), 0);
	assert_int_equal(got.jobs, 64);
	assert_true(got.seed == UINT64_MAX && got.has_seed);
	assert_int_equal(take(&got, "a --bytes 4k --ratio 1.5 --ramp 50us --outage 2min", &refusal),
			 0);
	assert_int_equal(got.bytes, 4096);
	assert_true(got.ratio == 1.5 && got.outage_s == 120);
	assert_int_equal(got.ramp_ns, 50000);
	assert_int_equal(take(&got, "a --set 1 --set 2 --take x --take y", &refusal), 0);
	assert_int_equal(got.set_count, 2);
	assert_string_equal(got.sets[1], "2");
	assert_int_equal(got.taken, 'x' + 'y');
	assert_int_equal(take(&got, "--list", &refusal), 0);
	assert_true(got.wants_list);
}

static void what_is_wrong_is_named_with_what_would_be_right(void **state)
{
	static const char *const table[][2] = {
		{"a --jsno", "unknown option --jsno; did you mean --json?"},
		{"a --sead=3", "unknown option --sead; did you mean --seed?"},
		{"a --bogus", "unknown option --bogus (--help"},
		{"a -x", "unknown option -x (--help"},
		{"a --json=3", "--json takes no value"},
		{"a --help=3", "--help takes no value"},
		{"a --out", "--out needs a value: DIR"},
		{"a -o", "-o needs a value: DIR"},
		{"a --out=", "an empty value for '--out'"},
		{"a --out x -o y", "--out is given twice"},
		{"a --mode x", "--mode is quiet, loud or none, not 'x'"},
		{"a --over c", "--over is a or b, not 'c'"},
		{"a --jobs 0", "--jobs is a whole number from 1 to 64, not '0'"},
		{"a --jobs 65", "--jobs is a whole number from 1 to 64, not '65'"},
		{"a --jobs +1", "not '+1'"},
		{"a --seed 18446744073709551616", "not '18446744073709551616'"},
		{"a --bytes 0", "--bytes is 1 to 1048576, as 4096 or 4K, not '0'"},
		{"a --bytes 2M", "not '2M'"},
		{"a --bytes 4Kx", "not '4Kx'"},
		{"a --ratio 2.5", "--ratio is a number from 1 to 2, not '2.5'"},
		{"a --ratio nan", "not 'nan'"},
		{"a --ramp 5", "--ramp is a time from 1ns on, as 50us or 10min"},
		{"a --ramp 0s", "--ramp is a time from 1ns on"},
		{"a --outage 101y", "--outage is a time from 1ns on"},
		{"a --set 1 --set 2 --set 3", "too many --set, at '3'"},
		{"a -t 4", "-t has no effect here: no threads"},
		{"a --json --csv", "--json has no effect with --csv"},
		{"a --json --mode quiet", "--json has no effect with --mode quiet"},
		{"a --jobs 1 --seed 1", "--jobs needs --out or --mode loud"},
		{"a --jobs 1 --seed 1 --mode quiet", "--jobs needs --out or --mode loud"},
		{"a --jobs 1 --out x", "--jobs needs --seed"},
		{"--list --json", "--list goes alone; unexpected argument '--json'"},
		{"a --json --probe", "--json has no effect with --probe"},
		{"--json", "no scenario given"},
		{"a b c", "unexpected argument 'c'"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct got got;
		struct refusal refusal;
		int rc = take(&got, table[i][0], &refusal);
		if (rc != -EINVAL || strstr(refusal.text, table[i][1]) == NULL)
			fail_msg("%s: %d, \"%s\"", table[i][0], rc, refusal.text);
	}
}

static void help_is_printed_before_anything_is_missed(void **)
{
	struct got got;
	struct refusal refusal;
	assert_int_equal(take(&got, "--jobs 1 -h", &refusal), COMMAND_LINE_DONE);
	assert_int_equal(take(&got, "--version", &refusal), COMMAND_LINE_DONE);
	assert_int_equal(take(&got, "--version --jobs 0", &refusal), -EINVAL);
}
