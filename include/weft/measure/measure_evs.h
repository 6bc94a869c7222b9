// SPDX-License-Identifier: Apache-2.0
// What flows send, entropy value by entropy value, when a scenario says `watch.evs`.
#pragma once

#include <stdint.h>

#define EV_COUNTS_MAX (UINT32_C(1) << 22) // of all flows

// Of one entropy value of a flow: data packets that left its sender by it, and their bytes on the
// line; what goes again counts again.
struct ev_count {
	uint64_t packets, bytes;
};
