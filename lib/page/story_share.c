// SPDX-License-Identifier: Apache-2.0
// How much of its ideal a run reached. See story.h.

#include "story.h"

#include <math.h>

const json_t *story_slowest(const json_t *result)
{
	const json_t *each, *slowest = NULL;
	size_t i;
	json_array_foreach(json_object_get(result, "collectives"), i, each)
	{
		double share = document_number_or(each, "busbw_share", HUGE_VAL);
		if (share < HUGE_VAL &&
		    (slowest == NULL ||
		     share < document_number_or(slowest, "busbw_share", HUGE_VAL)))
			slowest = each;
	}
	return slowest;
}

bool story_has_ideal(const json_t *result)
{
	return json_is_number(document_at(result, "headline.ideal_share")) ||
		story_slowest(result) != NULL;
}

double story_rate(const json_t *result, const char **ret_name)
{
	double rate = document_number_or(result, "headline.payload_rate_bps", 0);
	*ret_name = rate > 0 ? "payload rate" : "line rate";
	return rate > 0 ? rate : document_number_or(result, "network.nic_rate_bps", 0);
}

double story_share(const json_t *result)
{
	const char *name;
	const json_t *slowest = story_slowest(result);
	double ideal = document_number_or(result, "headline.ideal_share", -1);
	double rate = story_rate(result, &name);
	double goodput = document_number_or(result, "goodput.per_nic_bps", -1);
	if (ideal >= 0)
		return fmin(1, ideal);
	if (slowest != NULL)
		return fmin(1, document_number_or(slowest, "busbw_share", 0));
	return rate > 0 && goodput >= 0 ? fmin(1, goodput / rate) : -1;
}
