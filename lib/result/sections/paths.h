// SPDX-License-Identifier: Apache-2.0
// What was measured of single packets path by path: by the number of an EV in its QP's profile.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <weft/measure/measure_delay.h>
#include <weft/result/report.h>

#define PATHS_WORST \
	16u // paths that are listed where there are many; the others are summed up by plane
#define PATHS_LISTED 64u // all of so many are

#define PATHS_CELL_FULL "not valid: more than 2^32 packets took equally long"

enum paths_what { PATHS_ONE_WAY, PATHS_ROUND_TRIP, PATHS_WHAT_COUNT };

// "one_way", "round_trip".
const char *paths_what_name(enum paths_what what);

// The histograms of one of them, with watch.delays.
const struct paths *paths_of(const struct report_input *input, enum paths_what what);

// Why they are not reported by EV; NULL: they are.
const char *paths_unknown(const struct report_input *input, enum paths_what what);

// The paths with the slowest packets, the slowest first, of equal ones the first; and how many had
// any.
struct worst_paths {
	uint32_t list[PATHS_WORST];
	uint32_t count, used;
};

void worst_paths_find(struct worst_paths *ret, const struct paths *paths);

// An empty histogram for paths_read(); its counts are the caller's, who frees them.
void paths_scratch(struct hist *ret, const struct paths *paths);

// Rows by EV of `delays.rows`; `delays.evs_rest`; `delays.paths`.
void paths_rows_json(json_t *rows, const struct report_input *input, enum paths_what what);
void paths_json(json_t *to, const struct report_input *input);
