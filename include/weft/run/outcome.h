// SPDX-License-Identifier: Apache-2.0
// How a program of weft ends: what it says of a refusal, and its exit status. Shared by all of
// them.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <weft/core/near_word.h>
#include <weft/core/refusal.h>

// Exit statuses, those of README.md. EXIT_SUCCESS is the system's own.
enum {
	EXIT_MISSED = 1,      // a claim does not hold
	EXIT_BAD_INPUT = 2,   // what was asked cannot be done
	EXIT_ENVIRONMENT = 3, // what was asked can be done, but not here
	EXIT_PEER_LOST = 4,   // who this ran with is gone
	EXIT_NOT_VALID = 5    // there is a result, but partial
};

// The standard error as it is, for bars of progress, which move the cursor; to be flushed. All
// else that a program prints goes through streams that make what could do so visible
// (report_escape.h).
FILE *outcome_terminal(void);

// Prints on it.
void outcome_bar(const char *format, ...) __attribute__((format(printf, 1, 2)));

// A word of the command line that is none. `what` says what would be right, `word` stands behind it
// in quotes. Returns -EINVAL, for the caller to hand up.
int outcome_bad_word(struct refusal *refusal, const char *what, const char *word);

// The same for a name that may be misspelt; what `near_word` found stands behind it.
int outcome_bad_name(struct refusal *refusal, const char *what, const struct near_word *near_word);

// A command line of which no one word is wrong: something is missing, or two options contradict
// each other, as `what` says. Returns -EINVAL, for the caller to hand up.
int outcome_bad_line(struct refusal *refusal, const char *what);

// Remembers `word` of the command line in *to, for an option that may be given once. Returns 0, or
// -EINVAL when *to holds a word already or `word` is empty; then *to stays.
int outcome_once(struct refusal *refusal, const char **to, const char *option, const char *word);

// The exit status for `rc`, a negative errno that came up. -ENOMEM is the scenario's own limit;
// memory that the system does not give is -ENODEV.
int outcome_status(int rc);

// Says why, on one line of stderr that begins with "weft `program`: " and the place where one is
// known, and returns the exit status for `rc`.
int outcome_refused(const char *program, const struct refusal *refusal, int rc);

// The same in a process that mpirun started beside the first one, before they know of each other.
// The first one says the same at once and ends, and mpirun ends all with it: a process that is
// still here some seconds later was refused alone.
int outcome_refused_beside(const char *program, const struct refusal *refusal, int rc);

// The last call of a program: `status` when all it printed is written; else says so and returns
// EXIT_ENVIRONMENT.
int outcome_end(const char *program, int status);
