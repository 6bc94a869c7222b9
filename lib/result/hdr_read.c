// SPDX-License-Identifier: Apache-2.0
// A histogram file held against the result that it lies beside.

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/result/result.h>

// What a histogram's comments say: its total, and the run that it is of.
struct comments {
	uint64_t total;
	bool has_total, has_run, is_partial;
	char digest[17];
};

// "#[Total count    =          123]", or the same behind the maximum; "#[unit us; complete; digest
// 0123456789abcdef]".
static void read_comment(struct comments *to, const char *line)
{
	char state[32];
	const char *total = strstr(line, "Total count");
	if (total != NULL)
		to->has_total = sscanf(total, "Total count = %" SCNu64, &to->total) == 1;
	if (sscanf(line, "#[unit %*31[a-z]; %31[^;]; digest %16[0-9a-f]]", state, to->digest) != 2)
		return;
	to->is_partial = strcmp(state, "PARTIAL RESULT") == 0;
	to->has_run = to->is_partial || strcmp(state, "complete") == 0;
}

// Values, levels and counts rise. What is wrong, or NULL.
static const char *read_lines(struct comments *to, const char *text)
{
	double value, level, value_before = 0, level_before = -1;
	uint64_t count, count_before = 0;
	if (strstr(text, "Value") == NULL)
		return "is not a histogram";
	for (const char *line = text; line != NULL && *line != '\0';) {
		if (*line == '#')
			read_comment(to, line);
		else if (isdigit((unsigned char)line[strspn(line, " ")]) &&
			 sscanf(line, "%lf %lf %" SCNu64, &value, &level, &count) == 3) {
			if (!(value >= value_before) || !(level > level_before) || !(level <= 1) ||
			    count < count_before)
				return "is not a histogram: its lines do not rise";
			value_before = value;
			level_before = level;
			count_before = count;
		}
		line = strchr(line, '\n');
		line = line == NULL ? NULL : line + 1;
	}
	if (!to->has_total || !to->has_run)
		return "was cut: its last lines, with total and digest, are missing";
	return count_before > to->total ? "counts more than its total" : NULL;
}

// The row of the result that a file has the values of; NULL where the name says none.
static const json_t *row_of(const json_t *fields, const char *name)
{
	const json_t *each;
	size_t i;
	if (strcmp(name, "flow.hdr") == 0)
		return json_object_get(fields, "flows");
	json_array_foreach(json_object_get(fields, "messages"), i, each)
	{
		char file[96];
		snprintf(file, sizeof(file), "message_%.64s.hdr",
			 json_string_value(json_object_get(each, "pair")));
		if (strcmp(file, name) == 0)
			return each;
	}
	return NULL;
}

int result_check_histogram(const struct result *result, const char *path, const char *text,
			   size_t bytes, struct refusal *refusal)
{
	struct comments comments = {0};
	const char *slash = strrchr(path, '/');
	const json_t *run = json_object_get(result->fields, "run");
	const json_t *row = row_of(result->fields, slash == NULL ? path : slash + 1);
	const char *wrong = strlen(text) != bytes ? "is not text" : read_lines(&comments, text);
	const char *digest = json_string_value(json_object_get(run, "digest"));
	if (wrong == NULL && (digest == NULL || strcmp(comments.digest, digest) != 0))
		wrong = "is of another run: its digest is not the result's";
	if (wrong == NULL && comments.is_partial != result->is_partial)
		wrong = "is of another run: one of them is partial";
	if (wrong == NULL && row != NULL &&
	    (uint64_t)json_integer_value(json_object_get(row, "count")) != comments.total)
		wrong = "is of other packets: its total is not the result's count";
	return wrong == NULL ? 0 : refuse_file(refusal, -EINVAL, path, wrong);
}
