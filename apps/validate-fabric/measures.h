// SPDX-License-Identifier: Apache-2.0
// Figures that a section has of its cases, beside those that all have.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// Categories of the BMWG draft on AI-fabric training benchmarks; the second is not in the draft:
// what MRC adds.

enum section {
	SECTION_BASELINE,
	SECTION_MRC,
	SECTION_CONGESTION,
	SECTION_BALANCE,
	SECTION_COLLECTIVES,
	SECTION_STEP,
	SECTION_CONVERGENCE,
	SECTION_SOAK,
	SECTION_COUNT
};

const char *section_title(enum section section);
const char *section_word(enum section section); // one word, for --only

#define MEASURE_COUNT 38

struct measure {
	unsigned sections;	 // a bit for each that shows it
	const char *name, *unit; // "s", "bit/s", "byte", "count", or "" for a factor
	const char *way;	 // through result.json
	double scale;		 // to that unit
};

extern const struct measure measures[MEASURE_COUNT];

bool measure_is_of(const struct measure *measure, enum section section);

// All of them; NAN where a result has none.
void measures_read(double ret[MEASURE_COUNT], const json_t *result);

// How goodput varies from sample to sample, the bins of the series, while it is steady.
struct measure_samples {
	uint32_t count;
	double variation; // standard deviation over mean
};

// Returns false where a result has fewer than three.
bool measures_samples(struct measure_samples *ret, const json_t *result);
