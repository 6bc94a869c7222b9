// SPDX-License-Identifier: Apache-2.0
// A result that a run wrote, read again: result.json, study.json or book.json. Whoever judges,
// compares or shows one gets it from here, so that nobody judges what was not checked.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <weft/core/refusal.h>

enum result_kind { RESULT_RUN, RESULT_STUDY, RESULT_ACCEPTANCE };

struct result;
struct json_t;

#ifdef __cplusplus
extern "C" {
#endif

// Reads `text`, which was read from `path`. -EINVAL with the file and the first fault where it is
// no JSON, no result, of another version of its fields, a field is missing, unknown, of a wrong
// type or below what it can be (*.schema.json), or figures contradict each other (a median
// above the maximum, more arrived than was sent, `run.partial` against `run.end`). -ENOMEM. The
// caller frees *ret.
int result_parse(struct result **ret, const char *path, const char *text, size_t bytes,
		 struct refusal *refusal);
void result_free(struct result *result); // NULL: nothing

enum result_kind result_kind(const struct result *result);

// Its fields (jansson), good until it is freed.
const struct json_t *result_fields(const struct result *result);

// Holds a histogram that lies beside a run's result, its text read from `path`, against it: -EINVAL
// when it is no whole histogram, or one of another run or of other packets.
int result_check_histogram(const struct result *result, const char *path, const char *text,
			   size_t bytes, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
