// SPDX-License-Identifier: Apache-2.0
// Reads the traffic matrices of htsim (files *.cm):
//   Nodes N
//   Connections M
//   [Triggers T]
//   [Failures 0]
//   M lines of   source->target [id I] start TIME | trigger T  size BYTES
//                [send_done_trigger T] [recv_done_trigger T]
//   T lines of   trigger id T oneshot | multishot | barrier [count C]
// Words after the first come in any order, each key once. Blank lines, and those that begin with #,
// are passed over. Facts: htsim's own matrices and its reader's keys.
//
// A flow waits for a trigger: a oneshot is fired by one flow, a barrier by all that name it, and
// both start all that waits; a multishot starts one flow each time. htsim lets any flow start any
// other at once, over all distance; what that takes here is the world's to say. As whoever fires a
// multishot must know which flow is next, that is one NIC. Failures are refused: they are faults of
// a scenario.

#include <errno.h>
#include <string.h>

#include <weft/workload/workload.h>

#include "lines.h"
#include "matrix.h"

#define START_MAX_PS (1000 * PS_PER_S) // as a scenario's own flows

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
	int rc = lines_next_filled(lines, &at, &word);
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

// The number of a trigger, from 1 on.
static int read_trigger_number(const struct lines *lines, const struct matrix *matrix,
			       const struct lines_word *word, uint64_t *ret)
{
	if (matrix->trigger_count == 0)
		return lines_refuse(lines, word->column,
				    "there are no triggers: the head lacks `Triggers T`", 0, 0);
	int rc = lines_number(lines, word, matrix->trigger_count, ret);
	if (rc == 0 && *ret == 0)
		return lines_refuse(lines, word->column, "triggers are numbered from 1 to %",
				    matrix->trigger_count, 0);
	return rc;
}

static int read_value(const struct lines *lines, const struct matrix *matrix, const char **at,
		      const struct lines_word *key, uint64_t value[MATRIX_COUNT],
		      bool is_there[MATRIX_COUNT])
{
	const uint64_t max[MATRIX_TRIGGER] = {
		UINT32_MAX, (uint64_t)(START_MAX_PS / matrix->unit_ps), UINT32_MAX};
	for (int i = 0; i < MATRIX_COUNT; i++) {
		if (!lines_word_is(key, matrix_key_names[i]))
			continue;
		if (is_there[i])
			return lines_refuse(lines, key->column, "this key is on the line twice", 0,
					    0);
		is_there[i] = true;
		struct lines_word word = lines_take(lines, at);
		if (i >= MATRIX_TRIGGER)
			return read_trigger_number(lines, matrix, &word, &value[i]);
		return lines_number(lines, &word, max[i], &value[i]);
	}
	return lines_refuse(lines, key->column,
			    "a key other than id, start, size, trigger, send_done_trigger and "
			    "recv_done_trigger",
			    0, 0);
}

// What was read so far. A trigger's `needed` says what kind it is until all flows are known.
struct reader {
	struct lines lines;
	struct arena *arena;
	struct matrix matrix;
	struct matrix_ids ids;
	uint32_t flows_read, triggers_read;
	bool has_head; // with its triggers
};

static int note_id(struct reader *reader, uint32_t id)
{
	uint32_t first = 0;
	int rc = matrix_ids_add(&reader->ids, reader->arena, reader->matrix.flow_count, id,
				reader->lines.line, &first);
	if (rc == -EEXIST)
		return lines_refuse(&reader->lines,
				    lines_column(&reader->lines, reader->lines.line_start),
				    "id % is that of the connection in line %, too", id, first);
	return rc == 0 ? 0 : refuse(reader->lines.refusal, rc, "no memory for ids");
}

static int read_connection(struct reader *reader, const char *at, const struct lines_word *ends,
			   struct flow *ret)
{
	const struct lines *lines = &reader->lines;
	const struct matrix *matrix = &reader->matrix;
	uint64_t value[MATRIX_COUNT] = {0};
	bool is_there[MATRIX_COUNT] = {false};
	struct flow flow = {0};
	struct lines_word key;
	int rc = read_ends(lines, ends, matrix->nics, &flow);
	while (rc == 0 && (key = lines_take(lines, &at)).length > 0)
		rc = read_value(lines, matrix, &at, &key, value, is_there);
	if (rc < 0)
		return rc;
	uint32_t line_end = lines_column(lines, lines->line_end);
	if (!is_there[MATRIX_SIZE] || value[MATRIX_SIZE] == 0)
		return lines_refuse(lines, line_end, "a connection needs a size of 1 byte or more",
				    0, 0);
	if (is_there[MATRIX_START] == is_there[MATRIX_TRIGGER])
		return lines_refuse(lines, line_end,
				    "a connection needs a start or a trigger, one of the two", 0,
				    0);
	flow.bytes = value[MATRIX_SIZE];
	flow.start_ps = is_there[MATRIX_START] ? (ps_t)value[MATRIX_START] * matrix->unit_ps
					       : PS_NEVER;
	reader->matrix.has_starts |= value[MATRIX_START] > 0;
	flow.trigger = (uint32_t)value[MATRIX_TRIGGER];
	flow.on_sent = (uint32_t)value[MATRIX_SENT];
	flow.on_received = (uint32_t)value[MATRIX_RECEIVED];
	*ret = flow;
	return is_there[MATRIX_ID] ? note_id(reader, (uint32_t)value[MATRIX_ID]) : 0;
}

// ---------------------------------------------------------------- the parts of a file

static int read_trigger_head(struct reader *reader, const char *at, size_t bytes)
{
	struct lines_word word = lines_take(&reader->lines, &at);
	uint64_t count;
	if (reader->has_head || reader->flows_read > 0)
		return lines_refuse(&reader->lines, 1,
				    "`Triggers T` stands once, below `Connections M`", 0, 0);
	int rc = lines_number(&reader->lines, &word, bytes / 8, &count);
	if (rc == 0)
		rc = end_line(&reader->lines, at);
	if (rc < 0)
		return rc;
	reader->has_head = true;
	reader->matrix.trigger_count = (uint32_t)count;
	reader->matrix.triggers = arena_draw(reader->arena, ARENA_WORKLOAD, count,
					     sizeof(*reader->matrix.triggers));
	if (count > 0 && reader->matrix.triggers == NULL)
		return refuse(reader->lines.refusal, -ENOMEM, "no memory for % triggers",
			      (int64_t)count);
	return 0;
}

static int read_failures(const struct reader *reader, const char *at)
{
	struct lines_word word = lines_take(&reader->lines, &at);
	uint64_t count;
	int rc = lines_number(&reader->lines, &word, UINT32_MAX, &count);
	if (rc == 0 && count > 0)
		return lines_refuse(&reader->lines, word.column,
				    "failures are not read: they are `faults` of a scenario", 0, 0);
	return rc < 0 ? rc : end_line(&reader->lines, at);
}

// What is behind a trigger's number: its kind, and how often a barrier is fired.
static int read_kind(const struct lines *lines, const char *at, uint64_t flows,
		     struct trigger *trigger)
{
	struct lines_word kind = lines_take(lines, &at), key;
	uint64_t count;
	bool is_barrier = lines_word_is(&kind, "barrier");
	bool is_multishot = lines_word_is(&kind, "multishot");
	if (!is_barrier && !is_multishot && !lines_word_is(&kind, "oneshot"))
		return lines_refuse(lines, kind.column,
				    "a trigger is oneshot, multishot or barrier", 0, 0);
	trigger->kind = is_multishot ? TRIGGER_MULTISHOT : TRIGGER_BARRIER;
	trigger->needed = is_barrier ? MATRIX_NEEDS_ALL : MATRIX_NEEDS_ONE;
	const char *rest = at;
	key = lines_take(lines, &rest);
	if (!is_barrier || !lines_word_is(&key, "count"))
		return end_line(lines, at);
	struct lines_word word = lines_take(lines, &rest);
	int rc = lines_number(lines, &word, 2 * flows, &count);
	if (rc == 0 && count == 0)
		return lines_refuse(lines, word.column, "a barrier of 0 would never open", 0, 0);
	trigger->needed = (uint32_t)count;
	return rc < 0 ? rc : end_line(lines, rest);
}

// "trigger id T oneshot"
static int read_trigger(struct reader *reader, const char *at)
{
	const struct lines *lines = &reader->lines;
	struct lines_word id = lines_take(lines, &at), number = lines_take(lines, &at);
	uint64_t index;
	if (!lines_word_is(&id, "id"))
		return lines_refuse(lines, id.column,
				    "a trigger is `trigger id T oneshot`, `multishot` or "
				    "`barrier`",
				    0, 0);
	int rc = read_trigger_number(lines, &reader->matrix, &number, &index);
	if (rc < 0)
		return rc;
	struct trigger *trigger = &reader->matrix.triggers[index - 1];
	if (trigger->kind != TRIGGER_NONE)
		return lines_refuse(lines, number.column, "this trigger appears twice", 0, 0);
	reader->triggers_read++;
	return read_kind(lines, at, reader->matrix.flow_count, trigger);
}

static int read_line(struct reader *reader, const char *at, const struct lines_word *word,
		     size_t bytes)
{
	struct matrix *matrix = &reader->matrix;
	if (lines_word_is(word, "Triggers"))
		return read_trigger_head(reader, at, bytes);
	if (lines_word_is(word, "Failures"))
		return read_failures(reader, at);
	if (lines_word_is(word, "trigger"))
		return read_trigger(reader, at);
	if (reader->flows_read == matrix->flow_count)
		return lines_refuse(&reader->lines, word->column,
				    "a line after the % connections that were announced",
				    matrix->flow_count, 0);
	return read_connection(reader, at, word, &matrix->flows[reader->flows_read++]);
}

static int read_lines(struct reader *reader, size_t bytes)
{
	const char *at;
	struct lines_word word;
	int rc;
	while ((rc = lines_next_filled(&reader->lines, &at, &word)) > 0) {
		rc = read_line(reader, at, &word, bytes);
		if (rc < 0)
			return rc;
	}
	if (rc == 0 && reader->flows_read < reader->matrix.flow_count)
		return lines_refuse(&reader->lines, 0, "the file ends after % of % connections",
				    reader->flows_read, reader->matrix.flow_count);
	if (rc == 0 && reader->triggers_read < reader->matrix.trigger_count)
		return lines_refuse(&reader->lines, 0, "the file ends after % of % triggers",
				    reader->triggers_read, reader->matrix.trigger_count);
	return rc;
}

static int read_head(struct reader *reader, size_t bytes)
{
	struct lines *lines = &reader->lines;
	uint64_t nics, flows;
	int rc = read_count(lines, "Nodes", "a matrix begins with `Nodes N`", UINT32_MAX, &nics);
	// a connection takes more than eight bytes: a count beyond that cannot be true
	if (rc == 0)
		rc = read_count(lines, "Connections", "then comes `Connections M`", bytes / 8,
				&flows);
	if (rc < 0)
		return rc;
	if (nics < 2 || flows == 0)
		return lines_refuse(lines, 0, "a matrix of % nodes and % connections is none",
				    (int64_t)nics, (int64_t)flows);
	struct matrix *matrix = &reader->matrix;
	matrix->nics = (uint32_t)nics;
	matrix->flow_count = (uint32_t)flows;
	matrix->flows = arena_draw(reader->arena, ARENA_WORKLOAD, flows, sizeof(*matrix->flows));
	if (matrix->flows == NULL)
		return refuse(lines->refusal, -ENOMEM, "no memory for % connections",
			      (int64_t)flows);
	return 0;
}

int matrix_parse(struct matrix *ret, struct arena *arena, const char *text, size_t bytes,
		 ps_t unit_ps, struct refusal *refusal)
{
	struct reader reader = {.matrix.unit_ps = unit_ps,
				.lines = {.at = text, .end = text + bytes, .refusal = refusal},
				.arena = arena};
	int rc = read_head(&reader, bytes);
	if (rc == 0)
		rc = read_lines(&reader, bytes);
	if (rc == 0)
		rc = matrix_settle(&reader.matrix, arena, text, bytes, refusal);
	if (rc == 0)
		*ret = reader.matrix;
	return rc;
}
