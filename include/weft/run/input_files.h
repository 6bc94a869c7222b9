// SPDX-License-Identifier: Apache-2.0
// Files that a run reads besides its traffic: jobs and scenarios, shipped or of one's own, and
// topologies.
#pragma once

#include <stdio.h>

#include <weft/scenario/plan_file.h>
#include <weft/scenario/scenario.h>
#include <weft/workload/plan.h>

// The job behind `name`: a file where it is a path (has a slash, or ends in .yaml, .yml or .json),
// as it is named or beside the file `beside` (NULL: none), else a shipped one. Read once; the plan
// stays until the program ends. -ENOENT with what there is, or -errno with the place in the file.
int plan_files_find(const struct plan **ret, const char *name, const char *beside,
		    struct refusal *refusal);

// The same of what traffic.model and jobs[].model name, if the scenario has them.
int plan_files_read(struct scenario *scenario, struct refusal *refusal);

// Calls `visit` with each job that is shipped, by name. -errno with a reason when one is bad.
int plan_files_each(void (*visit)(const struct plan *plan), struct refusal *refusal);

// For programs that do not run it packet by packet: finds scenario `name` (shipped, or a path),
// reads it and sets `sets` over it. -errno with place and reason.
int scenario_file_read(struct scenario *ret, const char *name, const char *const *sets,
		       uint32_t set_count, struct refusal *refusal);

// Reads the .topo file of htsim that fabric.file names, if the scenario has one, into its fabric.
// -errno with the file, the line and the reason in `refusal`.
int topology_file_read(struct scenario *scenario, struct refusal *refusal);

// Writes the file of the job `name`, shipped or of one's own, with forward_ps, backward_ps and
// other_ps of `timing` in place of its times, `comment` (lines, or "") before them, and
// `timing->origin` as what they are calibrated by. Its text stays as it is but for the section
// `times` and the rows of inputs that are about it alone. What was written is read again before it
// is printed: -EINVAL with a reason when its times stand in a form that is not edited.
int job_times_print(FILE *to, const char *name, const struct plan *job, const struct timing *timing,
		    const char *comment, struct refusal *refusal);
