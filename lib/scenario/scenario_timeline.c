// SPDX-License-Identifier: Apache-2.0
// When the fabric of a scenario changes: faults that begin, end, or come and go.

#include <weft/scenario/scenario.h>

#define FLAPS_SEEN 20 // a flap is steady where so many of its periods were seen

// How long a change goes on to act: switches and NICs hear of it late, and paths that were left are
// tried again late.
static ps_t settling_ps(const struct scenario *scenario, bool is_end)
{
	const struct reroute_config *reroute = &scenario->fabric.reroute;
	ps_t late_ps = ps_max(reroute->local_ps, reroute->remote_ps);
	late_ps = ps_max(late_ps, scenario->port_detect_ps);
	return is_end ? late_ps + scenario->transport.path_retry_ps : late_ps;
}

static bool changes(const struct scenario *scenario, const struct fault *fault, ps_t from,
		    ps_t until, ps_t seen_ps)
{
	if (fault_is_setting(fault->kind))
		return false;
	bool is_there = fault->from_ps < until && fault->until_ps > from;
	if (fault->kind == FAULT_FLAP && is_there &&
	    (fault->down_ps + fault->up_ps) > seen_ps / FLAPS_SEEN)
		return true;
	if (fault->from_ps > 0 && fault->from_ps < until &&
	    fault->from_ps > from - settling_ps(scenario, false))
		return true;
	return fault->until_ps < until && fault->until_ps > from - settling_ps(scenario, true);
}

uint32_t scenario_fault_between(const struct scenario *scenario, ps_t from, ps_t until,
				ps_t seen_ps)
{
	uint32_t at = 0;
	while (at < scenario->fault_count &&
	       !changes(scenario, &scenario->faults[at], from, until, seen_ps))
		at++;
	return at;
}
