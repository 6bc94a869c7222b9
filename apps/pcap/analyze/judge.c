// SPDX-License-Identifier: Apache-2.0
// The metrics of a profile are fields of what --json prints.

#include "analyze.h"

#include <errno.h>

#include <weft/result/result.h>
#include <weft/run/outcome.h>
#include <weft/run/result_file.h>
#include <weft/verdict/report_verdict.h>

#include "analyze/figures.h"

static struct profile profile; // large: kept off the stack

int judge_read(struct call *call)
{
	return profile_read(&profile, call->profile, &call->refusal);
}

int judge_print(FILE *to, struct call *call)
{
	static const int statuses[] = {EXIT_SUCCESS, EXIT_MISSED, EXIT_NOT_VALID};
	static struct verdict verdict;
	json_t *fields = json_make(call);
	json_object_set_new(fields, "scenario", json_string(call->paths[0]));
	struct result *result = result_unchecked(fields, call->paths[0]);
	if (result == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for a verdict");
	int rc = verdict_of(&verdict, &profile, result, NULL, &call->refusal);
	if (rc == 0 && call->is_json)
		rc = verdict_json(to, &profile, &verdict);
	else if (rc == 0)
		verdict_show(to, &profile, &verdict);
	result_free(result);
	return rc < 0 ? rc : statuses[verdict.end];
}
