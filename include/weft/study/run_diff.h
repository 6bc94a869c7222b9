// SPDX-License-Identifier: Apache-2.0
// Two results beside each other: what differs, and whether that is more than chance would have it.
// Results of one run have no spread: of them it is only said what differs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/core/refusal.h>
#include <weft/result/report_result.h>
#include <weft/study/report_spread.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUN_DIFF_NAME_BYTES 160

// One figure of both.
struct run_diff_row {
	char name[RUN_DIFF_NAME_BYTES]; // the figure; of a study with several points, and its point
	char unit[24];			// empty: the name says it
	char word_a[48], word_b[48];	// where it is a word or a flag; of a text its beginning
	bool are_words_other;		// one is not the other, as a whole
	double a, b;			// means of a study; NAN: a null
	double low, high;		// interval of confidence of b - a; NAN without a spread
	double chance;
	enum spread_verdict verdict; // UNKNOWN: no spread, and not equal
	uint32_t runs_a, runs_b;
};

struct run_diff {
	bool is_study;
	bool is_paired;	 // the same seeds on both sides: differences were taken seed by seed
	bool is_partial; // on either side runs are missing or did not finish
	uint32_t count, only_a, only_b; // rows; figures and points that one side alone has
	struct run_diff_row *rows;   // those that differ beyond noise first, the widest apart first
	uint32_t differing, unknown; // of these: beyond noise; without a spread, and not equal
};

// Compares `a` with `b`. -EINVAL with a reason when one is a book, they are of two kinds, or have
// no figure in common; -ENODEV without memory. run_diff_free() gives the rows back, also after a
// failure.
int run_diff_of(struct run_diff *ret, const struct result *a, const struct result *b,
		struct refusal *refusal);
void run_diff_free(struct run_diff *run_diff);

// The first row that is neither equal, nor within noise, nor within `share` of a; NULL: none. What
// a run is called and made from (digest, seed, name, file) counts for nothing: it differs where
// runs do.
const char *run_diff_beyond(const struct run_diff *run_diff, double share);

// A table; with `is_all` also the rows that are equal.
void run_diff_show(FILE *to, const struct run_diff *run_diff, bool is_all);

// Returns 0, or -EIO.
int run_diff_json(FILE *to, const struct run_diff *run_diff);

#ifdef __cplusplus
}
#endif
