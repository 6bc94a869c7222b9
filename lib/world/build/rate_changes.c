// SPDX-License-Identifier: Apache-2.0
// How faults change a rate over time: that of a line, or the speed of a host.

#include "build.h"

// What is left of the rate at `at`: of several faults the slowest counts.
static uint32_t rate_at(const struct scenario *scenario, rate_share_fn share, const void *of,
			ps_t at)
{
	uint32_t rate_ppb = SHARE_WHOLE;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (at < fault->from_ps || at >= fault->until_ps)
			continue;
		uint32_t left_ppb = share(of, fault);
		rate_ppb = left_ppb < rate_ppb ? left_ppb : rate_ppb;
	}
	return rate_ppb;
}

// The next time after `after` at which a fault that changes it begins or ends, or PS_NEVER.
static ps_t next_edge(const struct scenario *scenario, rate_share_fn share, const void *of,
		      ps_t after)
{
	ps_t next = PS_NEVER;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct fault *fault = &scenario->faults[i];
		if (share(of, fault) == RATE_UNCHANGED)
			continue;
		if (fault->from_ps > after)
			next = ps_min(next, fault->from_ps);
		if (fault->until_ps > after)
			next = ps_min(next, fault->until_ps);
	}
	return next;
}

uint32_t rate_changes(const struct scenario *scenario, rate_share_fn share, const void *of,
		      struct rate_change *ret)
{
	uint32_t count = 0, last = SHARE_WHOLE;
	for (ps_t at = -1; (at = next_edge(scenario, share, of, at)) != PS_NEVER;) {
		uint32_t rate_ppb = rate_at(scenario, share, of, at);
		if (rate_ppb == last)
			continue;
		if (ret != NULL)
			ret[count] = (struct rate_change){at, rate_ppb};
		last = rate_ppb;
		count++;
	}
	return count;
}
