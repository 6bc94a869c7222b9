// SPDX-License-Identifier: Apache-2.0
// When a link between switches is down, by the timeline of faults, and when switches believe it: a
// state that did not last as long as their delay was never seen.
#pragma once

#include <stdbool.h>

#include <weft/fabric/fabric.h>

enum outage_knower { OUTAGE_LOCAL, OUTAGE_REMOTE, OUTAGE_KNOWERS };

// A link that faults take down, either way: who receives nothing tells the other end.
struct outage {
	uint32_t link;
	uint32_t count[OUTAGE_KNOWERS];
	ps_t *at[OUTAGE_KNOWERS]; // believed to be down, up, down ... after these times
};

struct outages {
	uint32_t count;
	struct outage *all; // by link
	uint32_t *of;	    // [link_count] its place in `all` + 1; 0: always up
};

// -EINVAL when a link changes too often, by fault `ret_fault`; -ENOMEM.
int outages_find(struct outages *ret, struct arena *arena, const struct topology *topology,
		 const struct reroute_config *config, const struct fault *faults,
		 uint32_t fault_count, uint32_t *ret_fault, struct refusal *refusal);

// Whether `knower` believes that the link is down, just after `at`.
bool outage_is_down(const struct outages *outages, uint32_t link, enum outage_knower knower,
		    ps_t at);
