// SPDX-License-Identifier: Apache-2.0
// The cable that carried most for its rate, and the deepest queue, with watch.links.
#pragma once

#include <stdbool.h>

#include <jansson.h>
#include <weft/result/report.h>

struct link_top {
	uint32_t cable;
	uint64_t bytes; // of data that it carried; of its queue
	double share;	// of what its rate carries while traffic ran; of queues none
	uint32_t full;	// of queues: ports that were as deep
};

// False: nothing was watched, or nothing was carried or queued.
bool links_busiest(struct link_top *ret, const struct report_input *input);
bool links_deepest(struct link_top *ret, const struct report_input *input);

// Both, in the `links` of result.json; null where there is none, with the reason.
void links_top_json(json_t *to, const struct report_input *input);
