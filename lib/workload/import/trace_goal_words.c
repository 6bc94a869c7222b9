// SPDX-License-Identifier: Apache-2.0
// Words of GOAL text, and the statements that they make. See trace_goal.h.

#include "trace_goal.h"

#include <string.h>

#define CPU_MAX 65534u // streams are of 16 bits, and one more may be needed

// ---------------------------------------------------------------- words

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_inner(char c)
{
	return is_letter(c) || is_digit(c) || c == '_';
}

static bool starts(const struct goal_words *words, const char *text)
{
	size_t length = strlen(text);
	return (size_t)(words->lines.line_end - words->at) >= length &&
		memcmp(words->at, text, length) == 0;
}

// Goes to the next word of the line, over blanks and comments.
static void skip(struct goal_words *words)
{
	const char *end = words->lines.line_end;
	while (words->at < end) {
		if (words->is_comment) {
			words->is_comment = !starts(words, "*/");
			words->at += words->is_comment ? 1 : 2;
		} else if (*words->at == ' ' || *words->at == '\t') {
			words->at++;
		} else if (starts(words, "//")) {
			words->at = end;
		} else if (starts(words, "/*")) {
			words->comment = words->lines;
			words->comment_column = lines_column(&words->lines, words->at);
			words->at += 2;
			words->is_comment = true;
		} else {
			return;
		}
	}
}

// A name, a number (with its sign), or a single sign; empty at the end of the line.
static struct lines_word take(struct goal_words *words)
{
	skip(words);
	const char *end = words->lines.line_end;
	struct lines_word word = {.at = words->at,
				  .column = lines_column(&words->lines, words->at)};
	if (words->at == end)
		return word;
	char first = *words->at++;
	while (words->at < end &&
	       (is_digit(first) || first == '-' ? is_digit(*words->at)
						: is_letter(first) && is_inner(*words->at)))
		words->at++;
	word.length = (size_t)(words->at - word.at);
	return word;
}

// What stands there is not what should.
static int refuse_word(const struct goal_words *words, const struct lines_word *word,
		       const char *text)
{
	return lines_refuse(&words->lines, word->column, text, 0, 0);
}

static int take_number(struct goal_words *words, uint64_t max, uint64_t *ret)
{
	struct lines_word word = take(words);
	return lines_number(&words->lines, &word, max, ret);
}

static int take_end(struct goal_words *words)
{
	struct lines_word word = take(words);
	return word.length == 0 ? 0
				: refuse_word(words, &word, "the line should be over before this");
}

// A rank or a tag; -1 stands for any there.
static int take_known(struct goal_words *words, uint64_t *ret)
{
	struct lines_word word = take(words);
	if (lines_word_is(&word, "-1"))
		return refuse_word(words, &word,
				   "-1, any, would be known only when it runs: name the one that "
				   "is meant");
	return lines_number(&words->lines, &word, UINT32_MAX, ret);
}

// ---------------------------------------------------------------- operations

// "tag 7 cpu 0 nic 0", each of them at most once; of a computation cpu alone.
static int take_places(struct goal_words *words, struct goal_statement *statement)
{
	bool is_message = statement->op != OP_COMPUTE, has_tag = false, has_cpu = false;
	bool has_nic = false;
	for (;;) {
		struct lines_word word = take(words);
		int rc;
		if (word.length == 0)
			return 0;
		if (is_message && !has_tag && lines_word_is(&word, "tag")) {
			rc = take_known(words, &statement->tag);
			has_tag = true;
		} else if (!has_cpu && lines_word_is(&word, "cpu")) {
			rc = take_number(words, CPU_MAX, &statement->cpu);
			has_cpu = true;
		} else if (is_message && !has_nic && lines_word_is(&word, "nic")) {
			rc = take_number(words, GOAL_NICS_MAX - 1, &statement->nic);
			has_nic = true;
		} else {
			rc = refuse_word(words, &word,
					 is_message ? "a message goes on with tag, cpu or nic, "
						      "each once, or ends here"
						    : "a computation goes on with cpu, once, or "
						      "ends here");
		}
		if (rc < 0)
			return rc;
	}
}

static int take_message(struct goal_words *words, struct goal_statement *statement)
{
	bool is_send = statement->op == OP_SEND;
	int rc = take_number(words, UINT32_MAX, &statement->size);
	if (rc < 0)
		return rc;
	struct lines_word word = take(words);
	if (!lines_word_is(&word, "b"))
		return refuse_word(words, &word, "a size is in bytes: the number and a b");
	if (statement->size == 0)
		return refuse_word(words, &word, "a message has 1 byte or more");
	word = take(words);
	if (!lines_word_is(&word, is_send ? "to" : "from"))
		return refuse_word(words, &word,
				   is_send ? "a send goes on with `to` and a rank"
					   : "a recv goes on with `from` and a rank");
	rc = take_known(words, &statement->peer);
	return rc < 0 ? rc : take_places(words, statement);
}

static bool is_op(const struct lines_word *word)
{
	return lines_word_is(word, "send") || lines_word_is(word, "recv") ||
		lines_word_is(word, "calc");
}

static int take_op(struct goal_words *words, const struct lines_word *word,
		   struct goal_statement *statement)
{
	statement->kind = GOAL_OP;
	if (lines_word_is(word, "calc")) {
		statement->op = OP_COMPUTE;
		int rc = take_number(words, INT64_MAX, &statement->size);
		return rc < 0 ? rc : take_places(words, statement);
	}
	statement->op = lines_word_is(word, "send") ? OP_SEND : OP_RECEIVE;
	return take_message(words, statement);
}

// ---------------------------------------------------------------- statements

static int take_rank(struct goal_words *words, struct goal_statement *statement)
{
	statement->kind = GOAL_RANK;
	int rc = take_number(words, UINT32_MAX, &statement->number);
	if (rc < 0)
		return rc;
	struct lines_word word = take(words);
	return lines_word_is(&word, "{") ? 0 : refuse_word(words, &word, "a rank goes on with {");
}

// "l1: send ...", "l1 requires l2"
static int take_labelled(struct goal_words *words, struct goal_statement *statement)
{
	struct lines_word word = take(words);
	statement->label = statement->word;
	if (lines_word_is(&word, ":")) {
		word = take(words);
		return is_op(&word)
			? take_op(words, &word, statement)
			: refuse_word(words, &word, "send, recv or calc is wanted here");
	}
	statement->kind = GOAL_WAIT;
	statement->is_start = lines_word_is(&word, "irequires");
	if (!statement->is_start && !lines_word_is(&word, "requires"))
		return refuse_word(words, &word, "a label goes on with :, requires or irequires");
	statement->other = take(words);
	if (statement->other.length == 0 || !is_letter(*statement->other.at))
		return refuse_word(words, &statement->other, "a label is wanted here");
	return take_end(words);
}

static int take_statement(struct goal_words *words, struct goal_statement *statement)
{
	const struct lines_word *word = &statement->word;
	if (is_op(word))
		return take_op(words, word, statement);
	if (lines_word_is(word, "num_ranks")) {
		statement->kind = GOAL_RANKS;
		return take_number(words, UINT32_MAX, &statement->number);
	}
	if (lines_word_is(word, "rank"))
		return take_rank(words, statement);
	if (lines_word_is(word, "}")) {
		statement->kind = GOAL_CLOSE;
		return 0;
	}
	if (is_letter(*word->at))
		return take_labelled(words, statement);
	return refuse_word(words, word,
			   "num_ranks, rank, an operation, a label or } is wanted here");
}

int goal_next(struct goal_words *words, struct goal_statement *ret)
{
	for (;;) {
		if (words->at != NULL) {
			*ret = (struct goal_statement){.word = take(words)};
			if (ret->word.length > 0)
				break;
		}
		int rc = lines_next(&words->lines);
		if (rc == 0 && words->is_comment)
			return lines_refuse(&words->comment, words->comment_column,
					    "the file ends within this comment", 0, 0);
		if (rc <= 0)
			return rc;
		words->at = words->lines.line_start;
	}
	int rc = take_statement(words, ret);
	return rc < 0 ? rc : 1;
}
