// SPDX-License-Identifier: Apache-2.0
// The step that a log is compared with, from the result of a schedule.

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include <weft/core/time.h>
#include <weft/study/mllog.h>

int mllog_result(double *ret_step_s, const char *text, size_t bytes, struct refusal *refusal)
{
	json_error_t error;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	const json_t *step = json_object_get(json_object_get(root, "step"), "step_ps");
	int rc = 0;
	if (root == NULL) {
		refusal->line = error.line > 0 ? (uint32_t)error.line : 0;
		refusal->column = error.column > 0 ? (uint32_t)error.column : 0;
		snprintf(refusal->text, sizeof(refusal->text), "not JSON: %.200s", error.text);
		rc = -EINVAL;
	} else if (!json_is_integer(step) || json_integer_value(step) <= 0) {
		rc = refuse(refusal, -EINVAL, "no step.step_ps: not the result of a step");
	} else {
		*ret_step_s = (double)json_integer_value(step) / (double)PS_PER_S;
	}
	json_decref(root);
	return rc;
}
