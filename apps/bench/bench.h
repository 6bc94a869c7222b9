// SPDX-License-Identifier: Apache-2.0
// What the files of weft bench share: options, and how it ends.
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include <weft/core/near_word.h>
#include <weft/core/refusal.h>

#include <weft/run/outcome.h>

#define REPEAT_MAX 1000

struct bench_options {
	const char *scenario_name; // run it instead of the cases; NULL: the cases
	const char *only;	   // the cases of these names, or that begin so; NULL: all
	const char *json;	   // file, "-" standard output; NULL: none
	const char *compare;	   // file of an earlier --json, or NULL
	uint32_t repeat;	   // 0: the default
	const char *show;	   // a case to be printed, or NULL
	bool has_instructions, wants_list;
};

int say_refusal(const struct refusal *refusal, int status);

// One line with the word that is wrong; returns the exit status.
int bad_word(const char *what, const char *word);
int bad_name(const char *what, const struct near_word *near_word);

// Puts `count` values in order and returns the middle one.
double median(double *values, long count);

// Whether the file of --json (or NULL) could be written; complains when not. To be asked before the
// work; makes no file.
int json_file_check(const char *path);

// Writes `out`, which it takes, to `path` ("-": standard output), whole or not at all. NULL is an
// `out` that found no memory. Returns an exit status.
int json_file_write(json_t *out, const char *path);

// sim.c and dpdk.c; return an exit status.
int bench_sim(const struct bench_options *options);
int bench_list(void);
int bench_show(const char *name);
int bench_dpdk(const struct bench_options *options);
