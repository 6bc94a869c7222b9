// SPDX-License-Identifier: Apache-2.0
// The figures of a distribution of latencies: rows LATENCY of lib/result/figures.def, and the
// distributions that have them, rows LATENCIES.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/result/figures.h>

enum latency_kind {
	LATENCY_COUNT,
	LATENCY_VALUE, // a struct figure
	LATENCY_ERROR, // one that a sample's messages have
};

// Below a distribution some of whose values have no place in its histogram.
#define LATENCIES_ABOVE_RANGE "    {above_range} of these lie above the range of the histogram\n"

struct latency_row {
	const char *key; // "p99_ns"
	enum latency_kind kind;
	size_t at; // in struct latency
	const char *meaning;
	// Heads of its column; NULL where it has none.
	const char *label; // in the terminal table
	const char *page;
};

#ifdef __cplusplus
extern "C" {
#endif

// The rows in order; NULL behind the last.
const struct latency_row *latency_row_at(uint32_t index);

// Its value, which is no count.
const struct figure *latency_figure(const struct latency *latency, const struct latency_row *row);

// Puts all rows into `to`, with the errors of a sample's messages or without.
void latency_json(json_t *to, const struct latency *latency, bool has_errors);

// Puts those of a section ("pace.gap") into the document: an object, or null and why.
void latencies_json(json_t *root, const char *section, const struct report_input *input);

// Prints the heads of the columns that the terminal table has, and the times of a distribution of
// the document in them ("-": none).
void latency_heads(FILE *to, int width);
void latency_times(FILE *to, int width, const json_t *of);

#ifdef __cplusplus
}
#endif
