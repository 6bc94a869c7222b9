// SPDX-License-Identifier: Apache-2.0
// All that a study has to say, as one document that a page is made of: what tune_show_json() has,
// and what knobs do, all settings, the Pareto set, and how soon the search came near its end.
#pragma once

#include <jansson.h>

#include <weft/tune/tune.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUNE_CURVE_POINTS_MAX 32

// What each knob does alone.
struct tune_curves {
	uint32_t points;    // of each knob, over its range; 0: none, and the document has what the
			    // search met, where the other knobs differ, too
	tune_runs_fn *runs; // makes those that the store has not
	void *runs_context;
};

// The document of a study that has run, or is under way; the caller gives it back with
// json_decref(). With curves the best setting has each of its knobs moved alone, on the fresh
// seeds. These runs are kept, and change nothing else. -errno with the reason: a run failed to be
// made; -ENODATA: curves of a study that is not at its end; -EINVAL: of one where nothing matters.
int tune_report_of(json_t **ret, struct tune *tune, const struct tune_curves *curves,
		   struct refusal *refusal);

// For people; as JSON; on each hold-out, a line each. -errno: the stream does not take it.
void tune_show(FILE *to, const struct tune_plan *plan, const struct tune_result *result);
int tune_show_json(FILE *to, const struct tune_plan *plan, const struct tune_result *result);
void tune_show_holdouts(FILE *to, const struct tune_plan *plan, const struct tune_result *result);

#ifdef __cplusplus
}
#endif
