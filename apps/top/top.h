// SPDX-License-Identifier: Apache-2.0
// weft top: what its files share.
//
//   main.c  the command line, look after look     asked.c  the socket of a host     table.c  a look
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <weft/core/refusal.h>

// A host that answers.
struct asked {
	int socket;
	char path[108];
};

// What it said of itself at once. Objects of the reader.
struct look {
	json_t *run, *planes, *qps;
};

// Finds the host that `word` names (NULL: the only one) and joins its socket. -ENODEV, -EINVAL with
// a reason.
int asked_open(struct asked *ret, const char *word, struct refusal *refusal);

// Takes a look. False: the run has ended, or nothing came for a while.
bool asked_look(struct asked *asked, struct look *ret);
void asked_close(struct asked *asked);

void look_drop(struct look *look);

// Shows `now`, and what it is more than `before`.
void table_print(FILE *to, const struct look *before, const struct look *now);
