// SPDX-License-Identifier: Apache-2.0
// Statements of GOAL text, one after the other. See workload_goal.h.
#pragma once

#include <weft/workload/workload_goal.h>

#include "pattern/lines.h"

#define GOAL_NICS_MAX 64u // of a rank

enum goal_kind {
	GOAL_RANKS, // num_ranks
	GOAL_RANK,  // rank r {
	GOAL_CLOSE, // }
	GOAL_OP,
	GOAL_WAIT,
};

struct goal_statement {
	enum goal_kind kind;
	struct lines_word word;	 // that it begins with
	uint64_t number;	 // RANKS, RANK
	struct lines_word label; // OP: may be empty; WAIT: the one that waits
	struct lines_word other; // WAIT: the one that it waits for
	bool is_start;		 // WAIT: for its begin
	enum op_kind op;
	uint64_t size; // bytes, or units of time
	uint64_t peer, tag, cpu, nic;
};

struct goal_words {
	struct lines lines;
	const char *at;	      // in the line
	bool is_comment;      // within one that may go on in the next line
	struct lines comment; // the line where that began
	uint32_t comment_column;
};

// The next statement. 1 when there is one, 0 at the end of the text, -EINVAL with its place.
int goal_next(struct goal_words *words, struct goal_statement *ret);
