// SPDX-License-Identifier: Apache-2.0
// What several runs say of one figure: mean, interval of confidence, extremes; and whether two sets
// of runs with the same seeds differ. Student's t throughout.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SPREAD_CONFIDENCE 0.95

struct spread_figures {
	uint32_t count; // values that are no NAN; 0: the rest is 0
	double mean, sd;
	double half; // of the interval of confidence; NAN with one value
	double min, max;
};

void spread_of(struct spread_figures *ret, const double *values, uint32_t count);

enum spread_verdict {
	SPREAD_UNKNOWN, // fewer than two pairs
	SPREAD_SAME,	// equal with each seed
	SPREAD_NOISE,	// no more apart than chance would have it
	SPREAD_DIFFERS,
};

// b - a, seed by seed.
struct spread_difference {
	struct spread_figures spread;
	double chance; // that means as far apart, or further, come of chance alone; NAN if unknown
	enum spread_verdict verdict;
};

// Values of the same index have the same seed; a pair with a NAN is left out. `comparisons` is how
// many verdicts are asked for together: all of them hold with SPREAD_CONFIDENCE (Bonferroni).
void spread_difference_of(struct spread_difference *ret, const double *a, const double *b,
			  uint32_t count, uint32_t comparisons);

// "unknown", "same", "noise", "differs"
const char *spread_verdict_name(enum spread_verdict verdict);

// The chance that |T| exceeds `t`, T of Student's distribution with `freedom` degrees, 1 or more.
double student_beyond(double t, uint32_t freedom);

// The t that |T| exceeds with the chance `chance`, above 0 and below 1.
double student_bound(double chance, uint32_t freedom);
