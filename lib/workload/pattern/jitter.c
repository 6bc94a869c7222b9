// SPDX-License-Identifier: Apache-2.0
// A measured distribution of times, as a list: each line a number, the time of an operation over
// the time that it should take. See step.h.

#include <errno.h>

#include <weft/workload/step.h>

#include "lines.h"
#include "schedule/step_operation.h"

#define RATIO_MAX 1000

// "1.0213": digits, at most one point, nine decimals; in 10^-9.
static int take_ratio(const struct lines *lines, const struct lines_word *word, uint64_t *ret)
{
	uint64_t value = 0, scale = 0;
	bool has_digit = false;
	for (size_t i = 0; i < word->length; i++) {
		char letter = word->at[i];
		bool is_point = letter == '.' && scale == 0;
		if (!is_point && (letter < '0' || letter > '9'))
			return lines_refuse(lines, word->column, "a ratio is as 1.0213", 0, 0);
		if (is_point) {
			scale = STEP_PPB;
			continue;
		}
		has_digit = true;
		if (scale == 1)
			continue; // beyond what is kept
		scale /= 10;
		value = value * 10 + (uint64_t)(letter - '0');
		if (value > (uint64_t)RATIO_MAX * STEP_PPB)
			break;
	}
	for (uint64_t left = scale == 0 ? STEP_PPB : scale; left > 1; left /= 10)
		value = value > UINT64_MAX / 10 ? UINT64_MAX : value * 10;
	if (!has_digit || value == 0 || value > (uint64_t)RATIO_MAX * STEP_PPB)
		return lines_refuse(lines, word->column, "a ratio is above 0 and at most %",
				    RATIO_MAX, 0);
	*ret = value;
	return 0;
}

int jitter_list_parse(uint64_t *ret, uint32_t count_max, const char *text, size_t bytes,
		      uint32_t *ret_count, struct refusal *refusal)
{
	struct lines lines = {.at = text, .end = text + bytes, .refusal = refusal};
	int rc;
	*ret_count = 0;
	while ((rc = lines_next(&lines)) == 1) {
		const char *at = lines.line_start;
		struct lines_word word = lines_take(&lines, &at);
		if (word.length == 0 || word.at[0] == '#')
			continue;
		if (*ret_count == count_max)
			return lines_refuse(&lines, word.column, "there are more than % ratios",
					    count_max, 0);
		rc = take_ratio(&lines, &word, &ret[*ret_count]);
		if (rc < 0)
			return rc;
		++*ret_count;
		word = lines_take(&lines, &at);
		if (word.length > 0 && word.at[0] != '#')
			return lines_refuse(&lines, word.column, "a line has one ratio", 0, 0);
	}
	if (rc == 0 && *ret_count < 2)
		return refuse(refusal, -EINVAL, "a list has 2 ratios or more, not %", *ret_count);
	return rc;
}
