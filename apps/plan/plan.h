// SPDX-License-Identifier: Apache-2.0
// One call of weft plan, for the files of this folder: main.c reads arguments, table.c prints.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <weft/order.h>

#define SETS_MAX 64

struct call {
	const char *name, *order_text;
	const char *sets[SETS_MAX];
	uint32_t set_count;
	bool wants_list, wants_keys, wants_help, wants_version;
	struct seats seats;
	struct plan_draft draft;
	struct order order;
	struct refusal refusal;
};

void table_print(FILE *to, const struct call *call);
