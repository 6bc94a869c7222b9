// SPDX-License-Identifier: Apache-2.0
// JUnit XML, as systems that run tests read it: suites with cases, each passed, failed, in error or
// skipped. Has all that the schemas of Ant's JUnit tasks and of Jenkins ask for.
#pragma once

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where and when it is written.
struct junit_origin {
	char host[64]; // never empty
	char time[24]; // "2026-11-23T01:02:03", UTC
};

struct junit {
	FILE *to;
	struct junit_origin origin;
	uint32_t suites;
};

struct junit_suite {
	const char *name;
	uint32_t tests, failures, errors, skipped;
	double time_s; // of its cases; what is no number is 0
};

enum junit_end { JUNIT_PASSED, JUNIT_FAILED, JUNIT_ERROR, JUNIT_SKIPPED };

struct junit_case {
	const char *suite, *name;
	enum junit_end end;
	const char *why; // of one that has not passed
	double time_s;
};

// Head of a document, into `to`, which is the caller's.
void junit_open(struct junit *ret, FILE *to, const struct junit_origin *origin);

// A suite begins; its cases follow, as many as it says, and its end.
void junit_suite(struct junit *junit, const struct junit_suite *suite);
void junit_case(struct junit *junit, const struct junit_case *one);
void junit_suite_end(struct junit *junit);

// The end of the document. Returns 0, or -EIO when something could not be written.
int junit_close(struct junit *junit);

#ifdef __cplusplus
}
#endif
