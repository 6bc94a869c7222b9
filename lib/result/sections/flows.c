// SPDX-License-Identifier: Apache-2.0
// Flows as lines of text. See sections.h.

#include "sections.h"

#include <inttypes.h>

bool flows_are_there(const struct world *world)
{
	return world->flow_count > 0;
}

void flows_write(FILE *to, const struct world *world)
{
	fprintf(to, "flow,from,to,bytes,start_ps,end_ps,fct_ps\n");
	for (uint32_t i = 0; i < world->flow_count; i++) {
		const struct flow *flow = &world->flows[i];
		ps_t end_ps = world->outcome->flow_end_ps[i];
		fprintf(to, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",", i, flow->from,
			flow->to, flow->bytes);
		if (flow->start_ps != PS_NEVER)
			fprintf(to, "%" PRId64, flow->start_ps);
		if (end_ps > 0)
			fprintf(to, ",%" PRId64 ",%" PRId64 "\n", end_ps, end_ps - flow->start_ps);
		else
			fprintf(to, ",,\n");
	}
}
