// SPDX-License-Identifier: Apache-2.0
// Times that follow from round trips and lateness. See times.h.

#include <weft/wall/times.h>

#define RTO_LATENESSES 10 // a timer is that far from what the loop is late
#define RTO_LEAST PS_PER_MS
#define RTO_MOST (2 * PS_PER_S) // endpoints take little more, and half of it for a hole

struct wall_times wall_times(ps_t rtt_ps, ps_t lateness_ps)
{
	ps_t hole_ps = rtt_ps * 5 / 4 + 2 * lateness_ps;
	ps_t wanted_ps = RTO_LATENESSES * ps_max(lateness_ps, rtt_ps);
	ps_t rto_ps = ps_max(ps_max(wanted_ps, 2 * hole_ps), RTO_LEAST);
	return (struct wall_times){.hole_age_ps = ps_min(hole_ps, RTO_MOST / 2),
				   .rto_ps = ps_min(rto_ps, RTO_MOST),
				   .is_rto_short = wanted_ps > RTO_MOST};
}
