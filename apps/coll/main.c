// SPDX-License-Identifier: Apache-2.0
// weft coll: arguments, and the loop over sizes. The first size is measured before anything is
// printed.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/signals.h>

#include "coll.h"
#include "help.h"
#include "weft-coll_options.h"
#include <weft/run/outcome.h>

#define PACKETS_DEFAULT 8000000
#define ITERATIONS_MAX 1000

static const struct option_row option_rows[] = {COLL_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "collective", .least = 1, .most = 1};

// What was given must have an effect.
static int check_call(struct call *call)
{
	bool has_sum = call->kind == COLL_ALL_REDUCE || call->kind == COLL_REDUCE ||
		call->kind == COLL_REDUCE_SCATTER;
	if (call->size_max == 0)
		call->size_max = call->size_min;
	if (call->size_max < call->size_min)
		return outcome_bad_line(&call->refusal, "-e is less than -b");
	if (call->size_max > call->size_min && call->factor == 0 && call->step_bytes == 0)
		return outcome_bad_line(&call->refusal,
					"-b to -e needs a step: give -f FACTOR or -i BYTES");
	if (call->size_max == call->size_min && (call->factor > 0 || call->step_bytes > 0))
		return outcome_bad_line(&call->refusal,
					"there is one size; -f and -i have no effect without -e");
	if (call->is_root_given && !coll_has_root(call->kind))
		return outcome_bad_word(&call->refusal,
					"-r has no effect: this collective has no root:",
					coll_kind_name(call->kind));
	if (call->op != NULL && !has_sum)
		return outcome_bad_word(&call->refusal, "-o has no effect: nothing is summed in",
					coll_kind_name(call->kind));
	if (call->choice.is_credit_ring && call->kind > COLL_ALL_REDUCE)
		return outcome_bad_word(&call->refusal, "credit_ring cannot do",
					coll_kind_name(call->kind));
	return 0;
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

static uint32_t count_sizes(const struct call *call)
{
	uint32_t count = 0;
	uint64_t bytes = call->size_min;
	for (; bytes <= call->size_max && bytes < UINT64_MAX && count < UINT32_MAX; count++)
		bytes = next_size(call, bytes);
	return count;
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
	bool is_first = total->rows++ == 0;
	if (call->is_json) {
		json_row(call, row);
	} else if (call->is_csv) {
		if (is_first)
			csv_head(stdout);
		csv_row(stdout, call, row);
	} else {
		if (is_first)
			table_head(stdout, call, row);
		table_row(stdout, call, row);
	}
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
	else if (total->rows > 0 && !call->is_csv)
		table_tail(stdout, call, total);
}

static int show(struct call *call)
{
	struct total total = {0};
	struct measured row = {.end = RUN_DONE};
	uint64_t last = 0;
	signals_catch();
	call->size_count = count_sizes(call);
	for (uint64_t bytes = call->size_min; bytes <= call->size_max;
	     bytes = next_size(call, bytes)) {
		call->size_index++;
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

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	call.scenario_name = DEFAULT_SCENARIO;
	call.size_min = 32 << 20; // nccl-tests
	take_type(&call, "float", &call.refusal);
	call.choice.is_auto = true;
	call.iterations = 1;
	call.packets_max = PACKETS_DEFAULT;
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal);
	int status = EXIT_SUCCESS;
	if (rc == 0 && kind_parse(argv[optind], &call.kind) < 0)
		rc = kind_refuse(argv[optind], &call.refusal);
	if (rc == 0)
		rc = check_call(&call);
	if (rc == 0)
		rc = data_file_read(&call.file, DATA_PATH_SCENARIOS, call.scenario_name,
				    &call.refusal);
	if (rc < 0)
		status = outcome_refused("coll", &call.refusal, rc);
	else if (rc == 0)
		status = show(&call);
	free(call.file.text);
	json_decref(call.json);
	return outcome_end("coll", status);
}
