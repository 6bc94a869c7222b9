// SPDX-License-Identifier: Apache-2.0
// Reads the traffic matrices of htsim (files *.cm):
//   Nodes N
//   Connections M
//   M lines of   source->target [id I] start PICOSECONDS size BYTES
// Words after the first come in any order, each key once. Blank lines, and those that begin with #,
// are passed over. Facts: htsim's own matrices and its reader's keys.
//
// What it is not: a reader of triggers (flows that begin when others end) and of failures. Those
// are refused: a trigger reaches over hosts without a packet, which nothing does here.

#include <errno.h>
#include <string.h>

#include <weft/workload.h>

#include "lines.h"

#define START_MAX_PS (1000 * PS_PER_S) // as a scenario's own flows

// The next line with a word on it, that word in `ret`, what follows from *at on. 0 at the end.
static int next_filled(struct lines *lines, const char **at, struct lines_word *ret)
{
	int rc;
	while ((rc = lines_next(lines)) > 0) {
		*at = lines->line_start;
		*ret = lines_take(lines, at);
		if (ret->length > 0 && ret->at[0] != '#')
			return 1;
	}
	return rc;
}

static int end_line(const struct lines *lines, const char *at)
{
	struct lines_word word = lines_take(lines, &at);
	if (word.length > 0)
		return lines_refuse(lines, word.column, "the line should end here", 0, 0);
	return 0;
}

// A line "key N".
static int read_count(struct lines *lines, const char *key, const char *missing, uint64_t max,
		      uint64_t *ret)
{
	const char *at;
	struct lines_word word;
	int rc = next_filled(lines, &at, &word);
	if (rc < 0)
		return rc;
	if (rc == 0 || !lines_word_is(&word, key))
		return lines_refuse(lines, rc == 0 ? 0 : word.column, missing, 0, 0);
	word = lines_take(lines, &at);
	rc = lines_number(lines, &word, max, ret);
	return rc < 0 ? rc : end_line(lines, at);
}

// "source->target", both below `nics`.
static int read_ends(const struct lines *lines, const struct lines_word *word, uint32_t nics,
		     struct flow *flow)
{
	size_t dash = 0;
	while (dash + 1 < word->length && !(word->at[dash] == '-' && word->at[dash + 1] == '>'))
		dash++;
	if (dash + 1 >= word->length)
		return lines_refuse(lines, word->column, "a connection begins with source->target",
				    0, 0);
	struct lines_word from = {word->at, dash, word->column};
	struct lines_word to = {word->at + dash + 2, word->length - dash - 2,
				word->column + (uint32_t)dash + 2};
	uint64_t ends[2];
	int rc = lines_number(lines, &from, nics - 1, &ends[0]);
	if (rc == 0)
		rc = lines_number(lines, &to, nics - 1, &ends[1]);
	if (rc < 0)
		return rc;
	if (ends[0] == ends[1])
		return lines_refuse(lines, to.column, "a connection cannot lead to its sender, %",
				    (int64_t)ends[1], 0);
	flow->from = (uint32_t)ends[0];
	flow->to = (uint32_t)ends[1];
	return 0;
}

enum matrix_key { KEY_ID, KEY_START, KEY_SIZE, KEY_COUNT };

static int read_value(const struct lines *lines, const char **at, const struct lines_word *key,
		      uint64_t value[KEY_COUNT], bool is_there[KEY_COUNT])
{
	static const char *const names[KEY_COUNT] = {"id", "start", "size"};
	static const uint64_t max[KEY_COUNT] = {UINT32_MAX, START_MAX_PS, UINT32_MAX};
	for (int i = 0; i < KEY_COUNT; i++) {
		if (!lines_word_is(key, names[i]))
			continue;
		if (is_there[i])
			return lines_refuse(lines, key->column, "this key is on the line twice", 0,
					    0);
		is_there[i] = true;
		struct lines_word word = lines_take(lines, at);
		return lines_number(lines, &word, max[i], &value[i]);
	}
	if (lines_word_is(key, "trigger") || lines_word_is(key, "send_done_trigger") ||
	    lines_word_is(key, "recv_done_trigger"))
		return lines_refuse(lines, key->column,
				    "triggers are not read: a flow here begins at its own time", 0,
				    0);
	return lines_refuse(lines, key->column, "a key other than id, start and size", 0, 0);
}

static int read_connection(const struct lines *lines, const char *at, const struct lines_word *ends,
			   uint32_t nics, struct flow *ret)
{
	uint64_t value[KEY_COUNT] = {0};
	bool is_there[KEY_COUNT] = {false};
	struct flow flow = {0};
	struct lines_word key;
	int rc = read_ends(lines, ends, nics, &flow);
	while (rc == 0 && (key = lines_take(lines, &at)).length > 0)
		rc = read_value(lines, &at, &key, value, is_there);
	if (rc < 0)
		return rc;
	uint32_t line_end = lines_column(lines, lines->line_end);
	if (!is_there[KEY_SIZE] || value[KEY_SIZE] == 0)
		return lines_refuse(lines, line_end, "a connection needs a size of 1 byte or more",
				    0, 0);
	if (!is_there[KEY_START])
		return lines_refuse(lines, line_end, "a connection needs a start", 0, 0);
	flow.bytes = value[KEY_SIZE];
	flow.start_ps = (ps_t)value[KEY_START];
	*ret = flow;
	return 0;
}

static int read_connections(struct lines *lines, struct matrix *matrix)
{
	const char *at;
	struct lines_word word;
	uint32_t count = 0;
	int rc;
	while ((rc = next_filled(lines, &at, &word)) > 0) {
		if (count == matrix->flow_count)
			return lines_refuse(lines, word.column,
					    "a line after the % connections that were announced",
					    matrix->flow_count, 0);
		rc = read_connection(lines, at, &word, matrix->nics, &matrix->flows[count++]);
		if (rc < 0)
			return rc;
	}
	if (rc == 0 && count < matrix->flow_count)
		return lines_refuse(lines, 0, "the file ends after % of % connections", count,
				    matrix->flow_count);
	return rc;
}

int matrix_parse(struct matrix *ret, struct arena *arena, const char *text, size_t bytes,
		 struct refusal *refusal)
{
	struct lines lines = {.at = text, .end = text + bytes, .refusal = refusal};
	struct matrix matrix = {0};
	uint64_t nics, flows;
	int rc = read_count(&lines, "Nodes", "a matrix begins with `Nodes N`", UINT32_MAX, &nics);
	// a connection takes more than eight bytes: a count beyond that cannot be true
	if (rc == 0)
		rc = read_count(&lines, "Connections", "then comes `Connections M`", bytes / 8,
				&flows);
	if (rc < 0)
		return rc;
	if (nics < 2 || flows == 0)
		return lines_refuse(&lines, 0, "a matrix of % nodes and % connections is none",
				    (int64_t)nics, (int64_t)flows);
	matrix.nics = (uint32_t)nics;
	matrix.flow_count = (uint32_t)flows;
	matrix.flows = arena_draw(arena, ARENA_WORKLOAD, flows, sizeof(*matrix.flows));
	if (matrix.flows == NULL)
		return refuse(refusal, -ENOMEM, "no memory for % connections", (int64_t)flows, 0,
			      0);
	rc = read_connections(&lines, &matrix);
	if (rc == 0)
		*ret = matrix;
	return rc;
}
