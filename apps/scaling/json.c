// SPDX-License-Identifier: Apache-2.0
// Weak scaling as JSON. Times of schedules are whole picoseconds, means seconds.

#include <weft/core/check.h>
#include <weft/result/put.h>

#include "scaling.h"
#include "weft_version.h"

static json_t *seeds_of(const struct call *call, const struct point *point)
{
	json_t *to = json_object();
	put(to, "count", json_integer(call->seed_count));
	put_real(to, "mean_s", point->spread.mean);
	put_real(to, "half_95_s", point->spread.half);
	put_real(to, "sd_s", point->spread.sd);
	put_real(to, "cv", point->spread.sd / point->spread.mean);
	put_real(to, "min_s", point->spread.min);
	put_real(to, "max_s", point->spread.max);
	if (point != call->reference)
		put_text(to, "against_reference", spread_verdict_name(point->against.verdict));
	return to;
}

static json_t *point_of(const struct call *call, const struct point *point)
{
	const struct step_exposed *times = &point->times;
	json_t *to = json_object();
	put(to, "racks", json_integer(point->racks));
	put(to, "gpus", json_integer(point->gpus));
	put(to, "replicas", json_integer(point->replicas));
	put(to, "batch", json_integer((json_int_t)point->batch));
	put(to, "ring_ranks", json_integer(point->ring_ranks));
	put(to, "step_ps", json_integer(times->with.step_ps));
	put(to, "exposed_ps", json_integer(times->with.step_ps - times->without.step_ps));
	put(to, "head_ps", json_integer(times->head_ps));
	put(to, "tail_ps", json_integer(times->tail_ps));
	if (call->is_sample) {
		put_real(to, "exposed_error_s", point->error_s);
		put(to, "packets", json_integer((json_int_t)point->packets));
		put(to, "groups", json_integer(point->groups));
		put(to, "groups_all", json_integer(point->groups_all));
	}
	put_real(to, "efficiency", point->efficiency);
	put_real(to, "consistency", point->consistency);
	if (call->seed_count > 0)
		put(to, "seeds", seeds_of(call, point));
	return to;
}

void json_print(FILE *to, const struct call *call)
{
	json_t *root = json_object(), *list = json_array();
	put(root, "schema", json_integer(1));
	put_text(root, "weft", WEFT_VERSION_TEXT);
	put_text(root, "scenario", call->name);
	put_text(root, "step_fidelity", call->is_sample ? "sample" : "model");
	put_origin(root, call->timing.origin, call->timing.rests_on);
	put(root, "gpus_per_rack", json_integer(call->gpus_per_rack));
	put(root, "reference_racks", json_integer(call->reference->racks));
	if (call->jitter.list == NULL)
		put_real(root, "jitter", call->jitter.ppb / 1e9);
	else
		put_text(root, "jitter", call->jitter.list);
	put_text(root, "jitter_kind",
		 call->jitter_text != NULL ? jitter_kind_text(call->jitter.kind) : "none");
	for (uint32_t i = 0; i < call->point_count; i++)
		check(json_array_append_new(list, point_of(call, &call->points[i])) == 0);
	put(root, "points", list);
	document_print(to, root, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
}
