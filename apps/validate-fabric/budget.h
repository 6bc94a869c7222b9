// SPDX-License-Identifier: Apache-2.0
// What a book has room for, and what it takes: known before its first case runs.
#pragma once

#include <stdio.h>

struct acceptance;
struct case_text;
struct fabric_facts;

// Why the book has no room for a case: more hops or memory than there is; NULL: it has. Sets
// to->is_left_out.
const char *budget_reason(const struct fabric_facts *fabric_facts, struct case_text *to);

// Counts what each case will cost. -ENOMEM.
int budget_count(struct acceptance *acceptance);

// What the whole book takes, one line.
void budget_say(FILE *to, const struct acceptance *acceptance);
