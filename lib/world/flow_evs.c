// SPDX-License-Identifier: Apache-2.0
// See flow_evs.h.

#include "flow_evs.h"

#include <weft/check.h>

void flow_evs_keep(const struct world *world, uint32_t flow, struct endpoint *endpoint,
		   uint32_t qpn)
{
	const struct scenario *scenario = world->scenario;
	if (scenario->flow_evs_count == 0 || endpoint == NULL)
		return;
	const struct flow_evs *evs = &scenario->flow_evs[flow];
	const uint16_t *numbers = evs->is_list ? scenario->flow_ev_numbers + evs->first : NULL;
	if (evs->count > 0)
		check(endpoint_ev_keep(endpoint, qpn, numbers, evs->count) == 0); // as was read
}
