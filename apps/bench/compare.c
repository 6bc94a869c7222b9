// SPDX-License-Identifier: Apache-2.0
// Figures of now beside those of an earlier call. Neighbours on a machine only ever add time, so
// the best of several runs is compared, and the distance of their median from it says how noisy
// they were: a difference below that is called noise.

#include "figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>

#include "weft_version.h"

#define FILE_BYTES_MAX ((size_t)1 << 26)

#define REPEAT_LEAST 3	 // runs of a side that can tell its noise
#define NOISE_LEAST 0.10 // what batches of runs of one program differ by on a quiet machine

// ---------------------------------------------------------------- reading

static const json_t *find(const json_t *then, const char *name)
{
	size_t i;
	const json_t *row;
	json_array_foreach(json_object_get(then, "cases"), i, row)
	{
		const char *text = json_string_value(json_object_get(row, "name"));
		if (text != NULL && strcmp(text, name) == 0)
			return row;
	}
	return NULL;
}

static double number(const json_t *row, const char *name)
{
	return json_number_value(json_object_get(row, name));
}

static bool is_row(const json_t *row)
{
	return json_is_string(json_object_get(row, "name")) &&
		json_is_string(json_object_get(row, "digest")) &&
		json_is_array(json_object_get(row, "cpu_s")) && number(row, "hops") > 0 &&
		number(row, "cpu_s_best") > 0 && number(row, "cpu_s_median") > 0;
}

static bool is_ours(const json_t *then)
{
	size_t i;
	const json_t *row, *cases = json_object_get(then, "cases");
	if (!json_is_array(cases) || json_array_size(cases) == 0 ||
	    !json_is_string(json_object_get(then, "version")) ||
	    !json_is_string(json_object_get(then, "processor")))
		return false;
	json_array_foreach(cases, i, row)
	{
		if (!is_row(row))
			return false;
	}
	return true;
}

int compare_read(const char *path, json_t **ret, struct refusal *refusal)
{
	json_error_t error;
	char *text;
	size_t bytes;
	int rc = file_read(path, FILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	*ret = json_loadb(text, bytes, 0, &error);
	free(text);
	if (*ret != NULL && is_ours(*ret))
		return 0;
	refusal_name(refusal, path);
	if (*ret == NULL) {
		refusal->line = (uint32_t)error.line;
		snprintf(refusal->text, sizeof(refusal->text), "%s", error.text);
	} else {
		snprintf(refusal->text, sizeof(refusal->text),
			 "these are not figures that weft bench sim --json wrote");
	}
	json_decref(*ret);
	*ret = NULL;
	return -EINVAL;
}

// ---------------------------------------------------------------- comparing

// What a difference of times may be without meaning anything, as a share: how far the median of
// each side is above its best, added up, and a tenth at least.
static double compare_noise(double best_then, double median_then, double best_now,
			    double median_now)
{
	double noise = (median_then - best_then) / best_then + (median_now - best_now) / best_now;
	return noise > NOISE_LEAST ? noise : NOISE_LEAST;
}

static const char *verdict(const json_t *old, const struct figures *row, double noise)
{
	double change = row->best_s / number(old, "cpu_s_best");
	size_t runs = json_array_size(json_object_get(old, "cpu_s"));
	if (runs < REPEAT_LEAST || row->repeat < REPEAT_LEAST)
		return "unknown: fewer than 3 runs";
	if (change > 1 + noise)
		return "slower";
	return change < 1 / (1 + noise) ? "faster" : "within the noise";
}

static bool is_same_run(const json_t *old, const struct figures *row)
{
	char digest[17];
	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)row->attempt.digest);
	return strcmp(digest, json_string_value(json_object_get(old, "digest"))) == 0;
}

static void show_row(const json_t *old, const struct figures *row)
{
	double then = number(old, "cpu_s_best"), hops = number(old, "hops");
	double noise = compare_noise(then, number(old, "cpu_s_median"), row->best_s, row->median_s);
	double instructions = number(old, "instructions_per_hop");
	// times of one hop: another run may have other hops
	printf("%-20s %8.1f %8.1f %8.3f %7.1f%%", row->name, then * 1e9 / hops,
	       row->best_s * 1e9 / (double)row->attempt.hops, row->best_s / then, noise * 100);
	if (instructions > 0 && row->instructions > 0)
		printf(" %7.1f %7.1f", instructions, figures_instructions_per_hop(row));
	else
		printf(" %7s %7s", "-", "-");
	printf("  %s%s\n", verdict(old, row, noise),
	       is_same_run(old, row) ? "" : "; another digest: not the same run");
}

void compare_show(const json_t *then, const struct figures *figures, uint32_t count)
{
	const char *version = json_string_value(json_object_get(then, "version"));
	const char *processor = json_string_value(json_object_get(then, "processor"));
	char here[FIGURES_PROCESSOR_BYTES];
	figures_processor(here, sizeof(here));
	printf("\nthen: %s\nnow:  %s\n", version, WEFT_VERSION_TEXT);
	if (strcmp(processor, here) != 0)
		printf("not the same processor: %s then, %s now\n", processor, here);
	printf("\n%-20s %17s %8s %8s %15s\n", "", "ns per hop, best", "time", "noise",
	       "instr. per hop");
	printf("%-20s %8s %8s %8s %8s %7s %7s\n", "case", "then", "now", "now/then", "", "then",
	       "now");
	for (uint32_t i = 0; i < count; i++) {
		const json_t *old = find(then, figures[i].name);
		if (old != NULL)
			show_row(old, &figures[i]);
		else
			printf("%-20s not in the file\n", figures[i].name);
	}
}
