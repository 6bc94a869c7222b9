// SPDX-License-Identifier: Apache-2.0
// --jitter of a schedule: "2", "normal:2", "lognormal:2", "list:FILE".
#pragma once

#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/workload/step.h>

struct jitter {
	enum jitter_kind kind;
	uint32_t ppb;	  // 0 with a list
	const char *list; // file, or NULL
};

// Reads the word. -EINVAL with a reason.
int jitter_parse(struct jitter *ret, const char *word, struct refusal *refusal);

// "uniform", "normal", "lognormal", "list".
const char *jitter_kind_text(enum jitter_kind kind);

// Gives it to a setup, and reads its list, which one call of the program keeps. -errno with a
// reason.
int jitter_take(struct step_setup *setup, const struct jitter *jitter, struct refusal *refusal);
