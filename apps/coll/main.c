// SPDX-License-Identifier: Apache-2.0
// weft coll: arguments, and the loop over sizes. The first size is measured before anything is
// printed.

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/signals.h>

#include "coll.h"
#include "help.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

#define SCENARIO_BYTES_MAX ((size_t)1 << 20)
#define PACKETS_DEFAULT 8000000
#define ITERATIONS_MAX 1000

enum {
	OPT_SCENARIO = 256,
	OPT_RANKS,
	OPT_ALGORITHM,
	OPT_CHANNELS,
	OPT_CHUNK,
	OPT_PACKETS,
	OPT_SEED,
	OPT_SET,
	OPT_JSON,
	OPT_VERSION
};

static const struct option longs[] = {
	{"minbytes", required_argument, NULL, 'b'},
	{"maxbytes", required_argument, NULL, 'e'},
	{"stepbytes", required_argument, NULL, 'i'},
	{"stepfactor", required_argument, NULL, 'f'},
	{"ngpus", required_argument, NULL, 'g'},
	{"iters", required_argument, NULL, 'n'},
	{"check", required_argument, NULL, 'c'},
	{"op", required_argument, NULL, 'o'},
	{"datatype", required_argument, NULL, 'd'},
	{"root", required_argument, NULL, 'r'},
	{"scenario", required_argument, NULL, OPT_SCENARIO},
	{"ranks", required_argument, NULL, OPT_RANKS},
	{"algorithm", required_argument, NULL, OPT_ALGORITHM},
	{"channels", required_argument, NULL, OPT_CHANNELS},
	{"chunk", required_argument, NULL, OPT_CHUNK},
	{"packets", required_argument, NULL, OPT_PACKETS},
	{"seed", required_argument, NULL, OPT_SEED},
	{"set", required_argument, NULL, OPT_SET},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

// ---------------------------------------------------------------- options

static int take_bytes(struct call *call, uint64_t *to, const char *word)
{
	if (size_parse(word, to) < 0 || *to == 0)
		return outcome_bad_word(&call->refusal, "bytes are needed, 1048576 or 1M, not",
					word);
	return 0;
}

static int take_packets(struct call *call, const char *word)
{
	if (size_parse(word, &call->packets_max) < 0 || call->packets_max == 0)
		return outcome_bad_word(&call->refusal,
					"a number of packets is needed, 1048576 or 1M, not", word);
	return 0;
}

static int take_count(struct call *call, uint32_t *to, const char *word, uint32_t min, uint32_t max)
{
	char *end, what[96];
	unsigned long long value = strtoull(word, &end, 10);
	snprintf(what, sizeof(what), "a number from %u to %u is needed, not", min, max);
	if (word[0] < '0' || word[0] > '9' || *end != '\0' || value < min || value > max)
		return outcome_bad_word(&call->refusal, what, word);
	*to = (uint32_t)value;
	return 0;
}

// nccl-tests has these; here they would change nothing.
static int refuse_no_effect(struct call *call, int option)
{
	static const struct {
		int option;
		const char *why;
	} reasons[] = {
		{'t',
		 "-t has no effect here: there are no threads; ranks are --ranks, GPUs of a "
		 "host -g"},
		{'w', "-w has no effect here: virtual time needs no warm-up"},
		{'m', "-m has no effect here: a run is one collective, nothing is aggregated"},
		{'G', "-G has no effect here: no kernels are launched"},
		{'z', "-z has no effect here: nothing blocks in virtual time"},
		{'p', "-p has no effect here: nothing is initialised in parallel"},
		{'a',
		 "-a has no effect here: all ranks are seen at once; a time is that of the "
		 "last"},
		{'C', "-C has no effect here: there is no CPU time of calls"},
		{'R', "-R has no effect here: buffers need no registration"},
		{'T', "-T has no effect here: limits.time of a scenario ends a run"},
	};
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].option == option)
			return refuse(&call->refusal, -EINVAL, reasons[i].why);
	check(false);
}

static int take_op(struct call *call, const char *word)
{
	if (strcmp(word, "sum") != 0)
		return outcome_bad_word(&call->refusal,
					"only sum is done; no other changes what is sent:", word);
	call->is_op_given = true;
	return 0;
}

static int take_type(struct call *call, const char *word)
{
	call->type = type_find(word);
	return call->type == NULL ? outcome_bad_word(&call->refusal, "no such type:", word) : 0;
}

static int take_check(struct call *call, const char *word)
{
	uint32_t value = 0;
	int rc = take_count(call, &value, word, 0, 1);
	call->is_checked = rc == 0 && value == 1;
	return rc;
}

static int take_algorithm(struct call *call, const char *word)
{
	if (choice_parse(word, &call->choice) == 0)
		return 0;
	return outcome_bad_word(&call->refusal,
				"an algorithm is auto, credit_ring, ring, tree, double_tree, "
				"halving_doubling, pat, direct or hierarchical, not",
				word);
}

static int take_set(struct call *call, const char *word)
{
	if (call->set_count == SETS_MAX)
		return outcome_bad_word(&call->refusal, "too many --set, at", word);
	call->sets[call->set_count++] = word;
	return 0;
}

static int take_seed(struct call *call, const char *word)
{
	char *end;
	errno = 0;
	call->seed = strtoull(word, &end, 10);
	call->is_seed_given = true;
	if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 ||
	    call->seed > INT64_MAX - ITERATIONS_MAX)
		return outcome_bad_word(&call->refusal, "a seed is a number below 2^63, not", word);
	return 0;
}

static int take_root(struct call *call, const char *word)
{
	call->is_root_given = true;
	return take_count(call, &call->root, word, 0, COLL_RANKS_MAX - 1);
}

static int take_fabric(struct call *call, int option, const char *word)
{
	switch (option) {
	case OPT_RANKS:
		return take_count(call, &call->ranks, word, 2, COLL_RANKS_MAX);
	case OPT_ALGORITHM:
		return take_algorithm(call, word);
	case OPT_CHANNELS:
		return take_count(call, &call->channels, word, 1, COLL_CHANNELS_MAX);
	case OPT_CHUNK:
		return take_bytes(call, &call->chunk_bytes, word);
	case OPT_PACKETS:
		return take_packets(call, word);
	case OPT_SEED:
		return take_seed(call, word);
	case OPT_SET:
		return take_set(call, word);
	case OPT_SCENARIO:
		call->scenario_name = word;
		return 0;
	case OPT_JSON:
		call->is_json = true;
		return 0;
	case OPT_VERSION:
		call->wants_version = true;
		return 0;
	default:
		call->wants_help = true;
		return 0;
	}
}

static int take(struct call *call, int option, const char *word)
{
	switch (option) {
	case 'b':
		return take_bytes(call, &call->size_min, word);
	case 'e':
		return take_bytes(call, &call->size_max, word);
	case 'i':
		return take_bytes(call, &call->step_bytes, word);
	case 'f':
		return take_count(call, &call->factor, word, 2, 1024);
	case 'g':
		return take_count(call, &call->gpus, word, 1, 1024);
	case 'n':
		return take_count(call, &call->iterations, word, 1, ITERATIONS_MAX);
	case 'c':
		return take_check(call, word);
	case 'o':
		return take_op(call, word);
	case 'd':
		return take_type(call, word);
	case 'r':
		return take_root(call, word);
	case 't':
	case 'w':
	case 'm':
	case 'G':
	case 'z':
	case 'p':
	case 'a':
	case 'C':
	case 'R':
	case 'T':
		return refuse_no_effect(call, option);
	default:
		return take_fabric(call, option, word);
	}
}

// What was given must have an effect.
static int check_call(struct call *call)
{
	bool has_sum = call->kind == COLL_ALL_REDUCE || call->kind == COLL_REDUCE ||
		call->kind == COLL_REDUCE_SCATTER;
	if (call->size_max == 0)
		call->size_max = call->size_min;
	if (call->size_max < call->size_min)
		return outcome_bad_line(&call->refusal, "-e is less than -b");
	if (call->factor > 1 && call->step_bytes > 0)
		return outcome_bad_line(&call->refusal, "sizes grow by -f or by -i, not both");
	if (call->size_max > call->size_min && call->factor == 0 && call->step_bytes == 0)
		return outcome_bad_line(&call->refusal, "from -b to -e by what? give -f or -i");
	if (call->size_max == call->size_min && (call->factor > 0 || call->step_bytes > 0))
		return outcome_bad_line(&call->refusal,
					"there is one size; -f and -i have no effect without -e");
	if (call->is_root_given && !coll_has_root(call->kind))
		return outcome_bad_word(&call->refusal, "-r has no effect: no root has",
					coll_kind_name(call->kind));
	if (call->is_op_given && !has_sum)
		return outcome_bad_word(&call->refusal, "-o has no effect: nothing is summed in",
					coll_kind_name(call->kind));
	if (call->choice.is_credit_ring && call->kind > COLL_ALL_REDUCE)
		return outcome_bad_word(&call->refusal, "credit_ring does no",
					coll_kind_name(call->kind));
	return 0;
}

static int parse(struct call *call, int argc, char **argv)
{
	bool seen[OUTCOME_OPTIONS_MAX] = {false};
	int option, rc;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "b:e:i:f:g:n:c:o:d:r:t:w:m:G:z:p:a:C:R:T:h", longs,
				     NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(&call->refusal, "unknown option or missing value:",
						argv[optind - 1]);
		if (option != OPT_SET &&
		    (rc = outcome_first(&call->refusal, seen, longs, option)) < 0)
			return rc;
		if ((rc = take(call, option, optarg)) < 0)
			return rc;
	}
	if (call->wants_help || call->wants_version)
		return 0;
	if (optind == argc)
		return outcome_bad_line(&call->refusal, "no collective given");
	if (optind + 1 < argc)
		return outcome_bad_word(&call->refusal, "one collective at a time; what is",
					argv[optind + 1]);
	if (kind_parse(argv[optind], &call->kind) < 0)
		return outcome_bad_word(&call->refusal, "there is no collective", argv[optind]);
	return check_call(call);
}

// ---------------------------------------------------------------- sizes

static uint64_t next_size(const struct call *call, uint64_t bytes)
{
	uint64_t most = UINT64_MAX;
	if (call->factor > 1)
		return bytes > most / call->factor ? most : bytes * call->factor;
	if (call->step_bytes == 0)
		return most;
	return bytes > most - call->step_bytes ? most : bytes + call->step_bytes;
}

// A size whose run did not come to its end; those behind it did not run.
static void say_end(const struct measured *row)
{
	const char *key = row->end == RUN_TIME ? "limits.time"
		: row->end == RUN_LIMIT	       ? row->limit_option
					       : NULL;
	fprintf(stderr, "weft coll: %" PRIu64 " bytes: the run ended as %s%s%s\n", row->bytes,
		run_end_name(row->end), key != NULL ? "; raise " : "", key != NULL ? key : "");
}

static void show_row(struct call *call, const struct measured *row, struct total *total)
{
	bool has_time = row->why_not[0] == '\0';
	if (total->rows++ == 0 && !call->is_json)
		table_head(stdout, call, row);
	if (call->is_json)
		json_row(call, row);
	else
		table_row(stdout, call, row);
	fflush(stdout); // a long run shows each size when it has it, in a pipe, too
	total->timed += has_time;
	total->busbw_sum += has_time ? busbw(row) : 0;
	total->wrong += row->wrong;
}

// Sizes that grow need not meet -e.
static void say_last(const struct call *call, uint64_t last)
{
	if (last != call->size_max)
		fprintf(stderr,
			"weft coll: warning: -e %" PRIu64 " is not reached: sizes from -b %" PRIu64
			" on %s %" PRIu64 ", and the last one is %" PRIu64 "\n",
			call->size_max, call->size_min,
			call->factor > 1 ? "grow by a factor of" : "grow by",
			call->factor > 1 ? call->factor : call->step_bytes, last);
}

// 0, or -errno with the reason. There is no row where the run did not come to its end.
static int show_size(struct call *call, uint64_t bytes, struct measured *row, struct total *total)
{
	if (total->rows > 0 && size_whole(row, call, bytes) == row->bytes)
		return 0; // in whole elements it is the size before
	int rc = measure_size(call, bytes, row);
	if (rc == 0 && row->end == RUN_DONE)
		show_row(call, row, total);
	return rc;
}

// Below all rows that there are.
static void show_total(const struct call *call, const struct total *total)
{
	if (call->is_json)
		json_print(stdout, call, total);
	else if (total->rows > 0)
		table_tail(stdout, call, total);
}

static int show(struct call *call)
{
	struct total total = {0};
	struct measured row = {.end = RUN_DONE};
	uint64_t last = 0;
	signals_catch();
	for (uint64_t bytes = call->size_min; bytes <= call->size_max;
	     bytes = next_size(call, bytes)) {
		int rc = show_size(call, bytes, &row, &total);
		if (rc < 0)
			return outcome_refused("coll", &call->refusal, rc);
		last = bytes;
		if (bytes == UINT64_MAX || row.end != RUN_DONE)
			break;
	}
	total.end = row.end;
	show_total(call, &total);
	if (row.end != RUN_DONE)
		say_end(&row);
	else
		say_last(call, last);
	if (total.timed < total.rows || row.end != RUN_DONE)
		return EXIT_NOT_VALID;
	return total.wrong > 0 ? EXIT_MISSED : EXIT_SUCCESS;
}

static int read_scenario(struct call *call)
{
	int rc = data_path_find(DATA_PATH_SCENARIOS, call->scenario_name, call->path,
				sizeof(call->path), &call->refusal);
	if (rc < 0)
		return rc;
	return file_read(call->path, SCENARIO_BYTES_MAX, &call->text, &call->text_bytes,
			 &call->refusal);
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	call.scenario_name = DEFAULT_SCENARIO;
	call.size_min = 32 << 20; // nccl-tests
	call.type = type_find("float");
	call.choice.is_auto = true;
	call.iterations = 1;
	call.packets_max = PACKETS_DEFAULT;
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc == 0 && call.wants_help)
		fputs(help_text, stdout);
	else if (rc == 0 && call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else if (rc < 0 || (rc = read_scenario(&call)) < 0)
		status = outcome_refused("coll", &call.refusal, rc);
	else
		status = show(&call);
	free(call.text);
	json_decref(call.json);
	return outcome_end("coll", status);
}
