// SPDX-License-Identifier: Apache-2.0
// From the name of a metric to the figures of a result: a way through its JSON, on which a list
// opens to all of its elements that are in the scope.
#pragma once

#include <jansson.h>

#include <weft/verdict/report_verdict.h>

// The figures that one metric leads to, as they are found: the worst is kept, and what the other
// statistics need.
struct metric {
	const struct profile_check *check;
	struct finding *finding;
	double limit;
	double least, most, sum;
	char where_least[PROFILE_PATH_BYTES], where_most[PROFILE_PATH_BYTES];
	uint32_t scope_used; // a bit for each word of the scope that some list has
	enum dimension unit; // of the figure on the way, where its field does not say
	bool has_word, word_differs;
};

// What a field counts in, by its name. The factor leads to seconds, bits per second, bytes.
enum dimension metric_dimension(const char *field, double *ret_factor);

// Why there is no figure: the first reason is kept.
void metric_lacks(struct finding *finding, const char *what, const char *word);

// Takes all figures at the end of `way`, fields with points between.
void metric_take(struct metric *metric, const json_t *result, const char *way);

// Whether each word of the scope spoke of some list.
bool metric_has_scope(const struct metric *metric);
