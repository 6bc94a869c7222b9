// SPDX-License-Identifier: Apache-2.0
// From a result to a verdict: an acceptance profile is a list of checks, each a metric of
// result.json (or study.json), a statistic, a bound and a scope. What could not be measured is
// never taken for met.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/core/refusal.h>
#include <weft/result/report_result.h>
#include <weft/verdict/report_junit.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROFILE_CHECKS_MAX 64
#define PROFILE_NAME_BYTES 64
#define PROFILE_PATH_BYTES 96
#define PROFILE_TEXT_BYTES 320

// What a number is. Bounds and figures of one dimension are held against each other in seconds,
// bits per second, bytes, or as plain numbers (shares, counts).
enum dimension { DIMENSION_NONE, DIMENSION_TIME, DIMENSION_RATE, DIMENSION_BYTES };

enum bound_kind { BOUND_AT_LEAST, BOUND_AT_MOST, BOUND_IS };

// "at least 90 % of network.nic_rate_bps", "at most 50us", "is 0", "is done".
struct bound {
	enum bound_kind kind;
	enum dimension dimension;
	bool is_percent;
	bool is_word;
	double value;		     // a percentage as a share
	char word[24];		     // where is_word: done, true, false, ...
	char of[PROFILE_PATH_BYTES]; // a field of the result that `value` is a share of, or
				     // "baseline", the same figure of another result; empty: none
};

struct profile_check {
	char name[PROFILE_NAME_BYTES];
	char metric[PROFILE_PATH_BYTES]; // fields with points between, as docs/result.md lists them
	char scope[PROFILE_PATH_BYTES];	 // "pair=across_t1": of the elements of lists; empty: all
	char statistic[16];		 // p99 of an object, or each, min, max, mean, sum, count
	char bound_text[PROFILE_PATH_BYTES];
	char source[PROFILE_TEXT_BYTES]; // where the bound is from
	struct bound bound;
	bool is_required;
	bool is_indicative; // shown beside its bound, and judges nothing
	uint32_t line;
};

struct profile {
	char name[PROFILE_NAME_BYTES];
	char description[PROFILE_TEXT_BYTES];
	struct profile_check checks[PROFILE_CHECKS_MAX];
	uint32_t check_count;
};

// Reads a profile from YAML `text`. `path` is for messages. -EINVAL with place and reason; a check
// that is given twice, without a source or with an unknown key is refused.
int profile_parse(struct profile *ret, const char *path, const char *text, size_t bytes,
		  struct refusal *refusal);

// Reads a bound from `text`. -EINVAL with the reason, without a place.
int bound_parse(struct bound *ret, const char *text, struct refusal *refusal);

enum finding_state {
	FINDING_MET,
	FINDING_MISSED,
	FINDING_UNAVAILABLE, // required, but there is no such figure
	FINDING_SKIPPED,     // there is no such figure, and the profile allows that
	FINDING_INDICATIVE,  // there is one, and the check judges nothing
};

// What became of one check.
struct finding {
	enum finding_state state;
	enum dimension dimension;
	bool is_inside;			// the bound holds
	double measured, limit;		// the worst of `values`, and what it was held against
	uint32_t values;		// figures in the scope
	char word[24];			// where the figure is a word or a flag
	char where[PROFILE_PATH_BYTES]; // which element of a list the worst figure is of
	char reason[160];		// why there is none
};

enum verdict_end { VERDICT_PASS, VERDICT_FAIL, VERDICT_NOT_VALID };

struct verdict {
	// not valid: the run was partial, its capture is cut, or a required figure is missing
	enum verdict_end end;
	bool is_partial, is_cut;
	char scenario[96], weft[96], digest[24];
	uint32_t met, missed, unavailable, skipped, indicative;
	struct finding findings[PROFILE_CHECKS_MAX]; // in the order of the checks
};

// Holds `result` against `profile`; bounds "of baseline" are shares of the same figures of
// `baseline`, without which (NULL) they are unavailable. -EINVAL when one of them is a book, when
// `result` is a study and the profile speaks of single runs alone, or when the baseline is partial:
// then it is none to go by.
int verdict_of(struct verdict *ret, const struct profile *profile, const struct result *result,
	       const struct result *baseline, struct refusal *refusal);

// A missed check in words: its name, what was measured and the bound, with units; "" for others.
void verdict_missed(FILE *to, const struct profile_check *check, const struct finding *finding);

// A line for each check: state, name, measured, bound, where.
void verdict_show(FILE *to, const struct profile *profile, const struct verdict *verdict);

// The same as JSON, and as JUnit XML: a test suite with a case for each check; missed ones are
// failures, what could not be measured errors or skipped. Returns 0, or -EIO.
int verdict_json(FILE *to, const struct profile *profile, const struct verdict *verdict);
int verdict_junit(FILE *to, const struct junit_origin *origin, const struct profile *profile,
		  const struct verdict *verdict);

#ifdef __cplusplus
}
#endif
