// SPDX-License-Identifier: Apache-2.0
// What the faults of a cable do to a packet.

#include "cable.h"

enum drop_reason cable_fate(const struct cable *cable, const struct cable_fault *faults,
			    struct rng *rng, ps_t start, ps_t at)
{
	for (uint32_t i = 0; i < cable->fault_count; i++) {
		const struct cable_fault *fault = &faults[cable->fault_first + i];
		switch (fault->kind) {
		case FAULT_LINK_DOWN: // whatever is on the cable while it is down is gone
			if (start < fault->until_ps && at >= fault->from_ps)
				return DROP_LINK_DOWN;
			break;
		case FAULT_LOSS:
			if (start >= fault->from_ps && start < fault->until_ps &&
			    (uint32_t)(rng_next(rng) >> 32) < fault->loss_threshold)
				return DROP_RANDOM_LOSS;
			break;
		}
	}
	return DROP_REASON_COUNT;
}
