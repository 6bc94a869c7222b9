// SPDX-License-Identifier: Apache-2.0
// What may be concluded from a run at the pace of a clock.

#include <weft/run/call.h>

static void pair_of(const void *context, uint32_t host, uint32_t other, struct seen_pair *ret)
{
	seen_pair(context, host, other, ret);
}

void paced_fidelity(struct report_fidelity *ret, const struct run *run, uint64_t dilation_milli)
{
	const struct hist *late = run->lateness_ns;
	double late_us = late != NULL && late->total > 0 ? (double)hist_quantile(late, 999000) / 1e3
							 : 0;
	*ret = (struct report_fidelity){.own = FIDELITY_EVERY};
	if (run->seen != NULL && run->seen->of != NULL) {
		ret->hosts = run->seen->hosts;
		ret->pair = pair_of;
		ret->context = run->seen;
	}
	if (run->gap_ns == NULL)
		return;
	if (dilation_milli == 0)
		snprintf(ret->conclude, sizeof(ret->conclude),
			 "all figures of the fabric hold, which went by virtual time as in weft "
			 "sim; when a frame was on a port says nothing, for nothing waited");
	else
		snprintf(ret->conclude, sizeof(ret->conclude),
			 "all figures of the fabric hold, which went by virtual time as in weft "
			 "sim; by the clock, on which 1 us takes %.1f us, what left was up to %.1f "
			 "us late (p99.9)",
			 (double)dilation_milli / 1000, late_us);
}
