// SPDX-License-Identifier: Apache-2.0
// The reader of all command lines. A program's options are rows, which help.py makes from its
// help.txt: there each option has its name, its value's name, its help and a rule, which says what
// its value may be, where it is stored, and what it goes with. Every word is understood or refused.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h> // optind

#include <weft/core/refusal.h>

enum option_kind {
	OPTION_FLAG,	// bool
	OPTION_TEXT,	// const char *, not empty; one of `words` where there are any
	OPTION_INDEX,	// int: which of `words` it is, the first one is `min`
	OPTION_COUNT,	// uint32_t or uint64_t, from `min` to `max`
	OPTION_REAL,	// double, from `low` to `high`
	OPTION_SIZE,	// uint64_t, bytes from `min` to `max`: 4096 or 4K, powers of 1024
	OPTION_TIME_NS, // int64_t, above 0: 50us
	OPTION_TIME_S,	// double, seconds above 0: 10min
	OPTION_LIST,	// const char *[max], whose uint32_t count is at `second`
	OPTION_TAKE,	// what `take` makes of it
	OPTION_FORCE,	// files_force()
	OPTION_NONE,	// it has no effect, and is refused for the reason in `words`
};

// Takes the value of an option (NULL where it has none) into `to`, what the program stores its
// options in. Returns 0, or -EINVAL (-ENOTSUP, ...) with a reason.
typedef int option_take_fn(void *to, const char *word, struct refusal *refusal);

struct option_row {
	const char *name;  // without --; "" where there is a letter alone; NULL behind the last row
	const char *value; // what --help calls its value; NULL: it takes none
	char letter;	   // 0: none
	enum option_kind kind;
	bool is_many;			// may be given many times
	bool is_alone;			// no other word may stand beside it
	bool is_sole;			// no other option may
	bool has_flag;			// a bool at `flag` says whether it was given
	size_t at, bytes, second, flag; // of the fields; offsets
	uint64_t min, max;
	double low, high;
	const char *words; // "sim|emu"
	option_take_fn *take;
	// Other options, "pcap|log": one of them is needed. Several such groups with ';' between
	// them. An option with '=' behind it is one with that value.
	const char *needs;
	const char *excludes; // "json|quiet": beside these it has no effect
};

// Called with each option as it is met, before its value is taken. 0, or -EINVAL with a reason.
typedef int option_note_fn(void *to, const struct option_row *row, const char *word,
			   struct refusal *refusal);

struct command_line {
	const char *help; // what --help prints; NULL: nothing is printed, the version neither
	const struct option_row *rows;
	const char *noun;     // what words behind options are: "scenario"
	uint32_t least, most; // so many of them
	option_note_fn *note; // or NULL
};

// Where a field of `type` is; of the wrong type it does not compile.
#define OPTION_AT(type, field, of) \
	(offsetof(type, field) + 0 * sizeof(&((type *)0)->field == (of *)0))
#define OPTION_BYTES(type, field) sizeof(((type *)0)->field)
#define OPTION_LENGTH(type, field) (sizeof(((type *)0)->field) / sizeof(((type *)0)->field[0]))

#define COMMAND_LINE_ROWS_MAX 80
enum { COMMAND_LINE_DONE = 1 }; // help or version was asked for, and is printed

// Reads argv into `to`, the struct that the rows were made for, which has its defaults. Returns 0;
// then the words behind the options are argv[optind] to argv[argc - 1]. Or COMMAND_LINE_DONE; or
// -EINVAL, or what `take` returned, with a reason.
int command_line_read(const struct command_line *line, void *to, int argc, char **argv,
		      struct refusal *refusal);

// Takes one option as if it stood on the command line, but for what it goes with. -EINVAL with a
// reason.
int option_take(const struct option_row *row, void *to, const char *word, struct refusal *refusal);

// The row of `name`, without --; NULL: there is none.
const struct option_row *option_find(const struct option_row *rows, const char *name);
