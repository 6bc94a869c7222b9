// SPDX-License-Identifier: Apache-2.0
// Files of training jobs: those that are shipped, by name, and those of others, by path.
#pragma once

#include <weft/scenario/plan_file.h>
#include <weft/scenario/scenario.h>

// The job behind `name`: a file where it is a path (has a slash or ends in .yaml), as it is named
// or beside the file `beside` (NULL: none), else a shipped one. Read once; the plan stays until the
// program ends. -ENOENT with what there is, or -errno with the place in the file.
int plan_files_find(const struct plan **ret, const char *name, const char *beside,
		    struct refusal *refusal);

// The same of what traffic.model and jobs[].model name, if the scenario has them.
int plan_files_read(struct scenario *scenario, struct refusal *refusal);

// Calls `visit` with each job that is shipped, by name. -errno with a reason when one is bad.
int plan_files_each(void (*visit)(const struct plan *plan, void *context), void *context,
		    struct refusal *refusal);
