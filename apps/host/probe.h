// SPDX-License-Identifier: Apache-2.0
// weft host --probe: a port, and the way to a peer, before there is traffic.
#pragma once

#include "host.h"

// Opens a port, prints what it is and whether the scenario's frames fit, and with --to how far they
// come. The exit status; -errno with a reason.
int probe_run(struct call *call);

struct reach_ends {
	uint8_t source[16], target[16]; // IPv4: ::ffff:a.b.c.d
};

// Reads --to and --from; without that it is an address of the interface. -EINVAL with a reason.
int reach_check(struct call *call, const char *interface, struct reach_ends *ret);

// Asks the peer layer by layer with frames of at most `frame_bytes`, and prints what each came to.
// EXIT_SUCCESS, or EXIT_PEER_LOST; -EINTR with a reason.
int reach_run(struct call *call, const struct device_facts *facts, uint32_t frame_bytes,
	      const struct reach_ends *ends);
