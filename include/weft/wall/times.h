// SPDX-License-Identifier: Apache-2.0
// The times of a transport that follow from what hosts measured before traffic.
#pragma once

#include <stdbool.h>

#include <weft/core/time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wall_times {
	ps_t hole_age_ps;
	ps_t rto_ps;
	bool is_rto_short; // ten times the lateness is more than a timer takes
};

// `rtt_ps`: of a packet through the whole loop; `lateness_ps`: of a loop, p99.9.
struct wall_times wall_times(ps_t rtt_ps, ps_t lateness_ps);

#ifdef __cplusplus
}
#endif
