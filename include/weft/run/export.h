// SPDX-License-Identifier: Apache-2.0
// Writing a set of traces as files of other programs.
#pragma once

#include <weft/trace/trace_run.h>

enum export_form { EXPORT_NONE, EXPORT_CHAKRA, EXPORT_GOAL, EXPORT_SIMAI };

// "chakra", "goal", "simai"; EXPORT_NONE for any other word.
enum export_form export_find(const char *name);

// How rings go into GOAL, which has no word for them.
struct export_rings {
	struct ring_config ring;
	uint32_t rank_host; // ranks of a host
};

// Makes the folder `out`, which must not be there or be empty (or, with --force, hold an earlier
// export), and writes the set into it. A set of one file is
// spread over its ranks; `ranks` as in struct trace_run, 0 where the set must tell. Rings in GOAL
// are slices and credits as `rings` has them. -errno with a reason; nothing stays half written.
int export_write(struct trace_set *set, enum export_form form, const char *out, uint32_t ranks,
		 const struct export_rings *rings, struct refusal *refusal);

// Writes the lines of a step into a file of a folder that is there: SimAI's text, which has no word
// for anything else.
int export_write_step(const struct step_text *text, const char *folder, const char *name,
		      struct refusal *refusal);
