// SPDX-License-Identifier: Apache-2.0
// weft scaling: arguments, and who prints.

#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "scaling.h"
#include "weft-scaling_options.h"
#include <weft/run/outcome.h>

#define RACKS_MAX 1000000

// ---------------------------------------------------------------- words

static int take_set(void *context, const char *word, struct refusal *refusal)
{
	struct call *call = context;
	if (call->set_count == SETS_MAX)
		return outcome_bad_word(refusal, "at most 60 --set, not", word);
	if (strncmp(word, "fabric.nics=", 12) == 0)
		return outcome_bad_word(refusal, "--racks says how many NICs there are, not --set",
					word);
	call->sets[call->set_count++] = word;
	return 0;
}

// ---------------------------------------------------------------- what they say

// Digits from `word` on; *end is behind them. 0 when there are none, or more than `max`.
static uint32_t count_of(const char *word, const char **end, uint32_t max)
{
	size_t digits = strspn(word, "0123456789");
	unsigned long value = digits > 0 && digits < 10 ? strtoul(word, NULL, 10) : 0;
	*end = word + digits;
	return value <= max ? (uint32_t)value : 0;
}

static struct point *point_of(struct call *call, uint32_t racks)
{
	for (uint32_t i = 0; i < call->point_count; i++)
		if (call->points[i].racks == racks)
			return &call->points[i];
	return NULL;
}

static int take_racks(struct call *call)
{
	const char *at = call->racks_text;
	if (at == NULL)
		return outcome_bad_line(&call->refusal, "no racks given: --racks is needed");
	for (;; at++) {
		uint32_t racks = count_of(at, &at, RACKS_MAX);
		if (racks == 0 || (*at != '\0' && *at != ','))
			return outcome_bad_word(
				&call->refusal,
				"--racks is a list of numbers from 1 to 1000000 with "
				"commas between, not",
				call->racks_text);
		if (point_of(call, racks) != NULL)
			return outcome_bad_word(&call->refusal,
						"--racks has a number twice:", call->racks_text);
		if (call->point_count == POINTS_MAX)
			return outcome_bad_word(&call->refusal, "at most 64 numbers of racks, not",
						call->racks_text);
		call->points[call->point_count++].racks = racks;
		if (*at == '\0')
			return 0;
	}
}

// The smallest when none is named.
static int take_reference(struct call *call)
{
	const char *word = call->reference_text, *end;
	call->reference = &call->points[0];
	for (uint32_t i = 1; i < call->point_count; i++)
		if (call->points[i].racks < call->reference->racks)
			call->reference = &call->points[i];
	if (word == NULL)
		return 0;
	uint32_t racks = count_of(word, &end, RACKS_MAX);
	call->reference = *end == '\0' && racks > 0 ? point_of(call, racks) : NULL;
	return call->reference != NULL
		? 0
		: outcome_bad_word(&call->refusal,
				   "--reference is one of the numbers of --racks, not", word);
}

static const struct option_row option_rows[] = {SCALING_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "scenario", .least = 1, .most = 1};

static int check_call(struct call *call)
{
	int rc = take_racks(call);
	if (rc == 0)
		rc = take_reference(call);
	if (rc == 0 && call->jitter_text != NULL)
		rc = jitter_parse(&call->jitter, call->jitter_text, &call->refusal);
	return rc;
}

// ---------------------------------------------------------------- output

// Draws into the file that --svg names.
static int draw(struct call *call)
{
	struct atomic_file atomic_file;
	int rc = atomic_file_begin(&atomic_file, call->svg, &call->refusal);
	if (rc < 0)
		return rc;
	return atomic_file_end(&atomic_file, svg_draw(atomic_file.to, call), &call->refusal);
}

static int show(struct call *call)
{
	int rc = points_run(call);
	if (rc < 0)
		return outcome_refused("scaling", &call->refusal, rc);
	if (call->is_json)
		json_print(stdout, call);
	else if (call->is_csv)
		csv_print(stdout, call);
	else
		table_print(stdout, call);
	if (call->svg != NULL)
		rc = draw(call);
	return rc < 0 ? outcome_refused("scaling", &call->refusal, rc) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal);
	int status = EXIT_SUCCESS;
	call.scenario_name = argv[optind];
	if (rc == 0 && (rc = check_call(&call)) == 0)
		status = show(&call);
	if (rc < 0)
		return outcome_refused("scaling", &call.refusal, rc);
	points_free(&call);
	return outcome_end("scaling", status);
}
