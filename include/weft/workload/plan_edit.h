// SPDX-License-Identifier: Apache-2.0
// A plan whose sizes are set one by one, by name.
#pragma once

#include <weft/workload/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// A plan of one's own: begins as another, or with all sizes missing.
struct plan_edit {
	struct plan plan; // points to `architecture`
	struct architecture architecture;
};

// `from`: NULL when all sizes are to be set.
void plan_begin(struct plan_edit *ret, const struct plan *from);

// One size that may be set: "hidden", "tp", ...
struct plan_key {
	const char *name, *text;
	uint32_t offset; // in struct plan_edit
	uint8_t bytes;	 // of the field: 1 (0 or 1), 4 or 8
	bool is_needed;	 // may not be 0
};

// All keys, ended by one whose name is NULL.
const struct plan_key *plan_keys(void);

// Sets one, "hidden=8192". -EINVAL with a reason: no such key, not a whole number, too large.
int plan_set(struct plan_edit *edit, const char *text, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
